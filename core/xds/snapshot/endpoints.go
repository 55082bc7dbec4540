package snapshot

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"github.com/meshmatch/meshmatch/core/internal/enforce"
	"github.com/meshmatch/meshmatch/core/internal/identity"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/internal/variant"
	"github.com/meshmatch/meshmatch/core/internal/weakcache"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
)

func isHostName(e *xds.Endpoint) bool {
	_, err := netip.ParseAddr(e.Address)
	return err != nil
}

func compareEndpoints(e, o *xds.Endpoint) int {
	return cmp.Or(strings.Compare(e.Address, o.Address), cmp.Compare(e.Port, o.Port), e.Dataplane.Compare(o.Dataplane),
		strings.Compare(e.Name, o.Name), slices.CompareFunc(e.Tags, o.Tags, func(a, b resource.Tag) int {
			return cmp.Or(strings.Compare(a.Key, b.Key), strings.Compare(a.Value, b.Value))
		}))
}

// eachOnce removes endpoints with the address of the one before: inbounds with one listener
// (SPEC 1.3). The list must be sorted.
func eachOnce(list []*xds.Endpoint) []*xds.Endpoint {
	return slices.CompactFunc(list, func(e, o *xds.Endpoint) bool {
		return e.Address == o.Address && e.Port == o.Port && e.Dataplane == o.Dataplane
	})
}

func equalEndpoints(e, o *xds.Endpoint) bool {
	return e.Dataplane == o.Dataplane && e.Address == o.Address && e.Port == o.Port && e.Name == o.Name && e.Zone == o.Zone &&
		e.Protocol == o.Protocol && e.SPIFFEID == o.SPIFFEID && e.ServerName == o.ServerName && slices.Equal(e.Tags, o.Tags) && slices.Equal(e.Labels, o.Labels)
}

// endpointsOf returns the endpoints of a dataplane, in the order of its inbounds. In Kuma 3
// their tags are the labels of the dataplane. In Kuma 2 they have its labels in addition.
func endpointsOf(s semantics.Semantics, d *resource.Dataplane, identities *identity.Identities) []*xds.Endpoint {
	spiffeID := spiffeIDOf(d, identities)
	var labels resource.Tags
	if tagReadingOf(s) == readBoth {
		labels = d.Labels
	}
	var list []*xds.Endpoint
	for i := range d.Inbounds {
		in := &d.Inbounds[i]
		if in.NotReady {
			continue
		}
		list = append(list, &xds.Endpoint{
			Dataplane: d.ID,
			Address:   cmp.Or(d.AdvertisedAddress, in.Address, d.Address),
			Port:      in.Port,
			Name:      in.Name,
			Tags:      s.ComparedTags(d, in.Tags),
			Labels:    labels,
			Zone:      enforce.ZoneOf(d),
			Protocol:  inboundProtocol(&d.Inbounds[d.ListenerOf(i)]),
			SPIFFEID:  spiffeID,
		})
	}
	return list
}

// spiffeIDOf returns the SPIFFE ID of a dataplane; "" if it has none.
func spiffeIDOf(d *resource.Dataplane, identities *identity.Identities) string {
	if id, err := identities.IdentityOf(d); err == nil && id != nil {
		return id.SPIFFEID
	}
	return ""
}

// service is the endpoints of one service of a mesh. It is immutable, except that the sets
// of destinations are made on demand.
type service struct {
	endpoints []*xds.Endpoint // sorted

	mu     sync.Mutex
	sets   map[string]*endpointSet // by the name of the destination
	before map[string]*endpointSet // of the previous version
}

// after returns the next version of a service, which may be nil.
func (s *service) after(endpoints []*xds.Endpoint) *service {
	next := &service{endpoints: endpoints, sets: map[string]*endpointSet{}}
	if s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		next.before = maps.Clone(s.sets)
	}
	return next
}

// endpointSet is the endpoints of a destination. Two sets with equal endpoints are
// one pointer in consecutive states.
type endpointSet struct {
	list  []*xds.Endpoint
	facts *endpointFacts
}

// endpointFacts is the part of the endpoints on which clusters depend. Equal facts are one
// pointer.
type endpointFacts struct {
	protocol message.Protocol // that all endpoints have, else TCP
	onlyTCP  bool             // there are endpoints, found by tags, and none has HTTP
	ids      []string         // distinct SPIFFE IDs, sorted
	plain    bool             // there is an endpoint without identity
	names    bool             // there is an endpoint with a host name
	secured  bool             // all are called by TLS and have one of ids
	refused  bool             // there are endpoints, and the certificate of none is accepted
	ownTLS   bool             // of an external service that has TLS of its own
	// serverNames are the distinct ones of zone proxies, sorted.
	serverNames []string
	// unnamed reports that there is no server name, so there can be no cluster.
	unnamed bool
}

// set returns the endpoints of a destination. If the previous version has the same ones, it
// returns their pointer.
func (s *service) set(d *destination, facts *weakcache.Cache[string, endpointFacts]) *endpointSet {
	s.mu.Lock()
	defer s.mu.Unlock()
	if set := s.sets[d.name]; set != nil {
		return set
	}
	var set *endpointSet
	if d.target != nil {
		set = d.target.endpointSet(s.endpoints, facts)
	} else {
		set = newEndpointSet(s.endpoints, d.Destination, facts)
	}
	if before := s.before[d.name]; before != nil && before.facts == set.facts && slices.EqualFunc(before.list, set.list, equalEndpoints) {
		set = before
	}
	s.sets[d.name] = set
	return set
}

func newEndpointSet(endpoints []*xds.Endpoint, d variant.Destination, facts *weakcache.Cache[string, endpointFacts]) *endpointSet {
	// The tags by which an outbound selects endpoints (SPEC 11.3).
	selector := slices.DeleteFunc(slices.Clone(d.Tags), func(t resource.Tag) bool { return t.Key == resource.ProtocolTag })
	var list []*xds.Endpoint
	for _, e := range endpoints {
		if e.Tags.Contains(selector) {
			list = append(list, e)
		}
	}
	list = eachOnce(list)
	return &endpointSet{list: list, facts: collectFacts(list).shared(facts)}
}

// collectFacts returns the facts about endpoints of a service by its tags.
func collectFacts(list []*xds.Endpoint) *endpointFacts {
	f := &endpointFacts{protocol: message.TCP, onlyTCP: len(list) > 0}
	for i, e := range list {
		f.onlyTCP = f.onlyTCP && !e.Protocol.IsHTTP()
		switch {
		case i == 0:
			f.protocol = e.Protocol
		case f.protocol != e.Protocol:
			f.protocol = message.TCP
		}
		if e.SPIFFEID == "" {
			f.plain = true
		} else {
			f.ids = append(f.ids, e.SPIFFEID)
		}
		f.names = f.names || isHostName(e)
		if e.ServerName != "" {
			f.serverNames = append(f.serverNames, e.ServerName)
		}
	}
	slices.Sort(f.ids)
	f.ids = slices.Compact(f.ids)
	slices.Sort(f.serverNames)
	f.serverNames = slices.Compact(f.serverNames)
	return f
}

// shared returns the one pointer for facts.
func (f *endpointFacts) shared(known *weakcache.Cache[string, endpointFacts]) *endpointFacts {
	return known.Get(f.key(), func() *endpointFacts { return f })
}

// key returns a text that is equal for equal facts.
func (f *endpointFacts) key() string {
	return fmt.Sprintln(f.protocol, f.onlyTCP, f.plain, f.names, f.secured, f.refused, f.ownTLS, f.unnamed, f.serverNames) + strings.Join(f.ids, "\n")
}
