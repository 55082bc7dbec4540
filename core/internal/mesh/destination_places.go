package mesh

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/internal/destination"
	"github.com/meshmatch/meshmatch/core/internal/hashtable"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// destinationPlaces finds the outbounds to destinations whose confs differ in two states, of
// dataplanes that both states have. Dataplanes of one class have the same policies, so each
// port of a destination is compared once for each pair of classes.
type destinationPlaces struct {
	before, after *State
	pairs         map[[2]*classConfigs]*confsPair
	lists         hashtable.Table[*placeList] // equal lists of places are one
	seed          maphash.Seed
}

type placeList struct{ places []results.Place }

func newDestinationPlaces(before, after *State) *destinationPlaces {
	return &destinationPlaces{before: before, after: after, pairs: map[[2]*classConfigs]*confsPair{}, seed: maphash.MakeSeed()}
}

// confsPair are the confs for destinations of two classes: what dataplanes had and have.
type confsPair struct {
	kinds []kindPair // that may differ
	// only contains the destinations whose confs may differ; nil: any. It holds for a
	// dataplane that has the same outbounds in both states.
	only  []resource.Destination
	known map[portPair][]results.Place
	// shared are the places of lists of outbounds, by their first element: transparent proxies
	// share lists of thousands (SPEC 17.3).
	shared map[outboundLists][]results.Place
}

// outboundLists are the outbounds of a dataplane in both states, as the first element and the
// length of each list.
type outboundLists struct {
	before, after *destination.Outbound
	was, is       int
}

func listsOf(before, after []destination.Outbound) outboundLists {
	return outboundLists{firstOf(before), firstOf(after), len(before), len(after)}
}

func firstOf(list []destination.Outbound) *destination.Outbound {
	if len(list) == 0 {
		return nil
	}
	return &list[0]
}

// kindPair is the confs by the policies of one kind; nil for a class without any.
type kindPair struct {
	kind          *resource.Kind
	before, after *destination.Confs
}

// portPair is a port of a destination in both states; the zero port if one of them lacks it.
type portPair struct{ before, after portOf }

// portOf is all of an outbound on which its confs depend.
type portOf struct {
	destination resource.Destination
	port        uint32
	section     string
}

func portAt(o *destination.Outbound) portOf {
	if o == nil {
		return portOf{}
	}
	return portOf{o.Destination, o.Port.Number, o.Section}
}

// pair returns the confs of the classes of two profiles in a scope.
func (p *destinationPlaces) pair(before, after *profileView, scope results.Scope) *confsPair {
	key := [2]*classConfigs{before.in(scope).classOf(), after.in(scope).classOf()}
	known := p.pairs[key]
	if known == nil {
		known = &confsPair{known: map[portPair][]results.Place{}, shared: map[outboundLists][]results.Place{}}
		p.fill(known, key[0], key[1], before.configs(scope), after.configs(scope))
		p.pairs[key] = known
	}
	return known
}

// fill sets the confs of two classes, of the kinds that may differ: those with other policies
// with `to` items and, if other routes or destinations may be found, all.
func (p *destinationPlaces) fill(pair *confsPair, before, after *classConfigs, was, is []*results.Config) {
	differing, all, changed := toKinds(before, after)
	if p.before.Destinations() != p.after.Destinations() {
		differing = all
	} else if pair.only = p.foundBy(changed); pair.only != nil && len(pair.only) == 0 {
		return
	}
	if slices.ContainsFunc(differing, (*resource.Kind).IsRoute) {
		differing = all
	}
	for _, kind := range differing {
		k := kindPair{kind: kind}
		if before.configFor(kind.Name) != nil {
			k.before = p.before.destinationItems().Confs(kind, was)
		}
		if after.configFor(kind.Name) != nil {
			k.after = p.after.destinationItems().Confs(kind, is)
		}
		pair.kinds = append(pair.kinds, k)
	}
}

// mostFound limits the destinations that are compared with each outbound.
const mostFound = 16

// foundBy returns the destinations that items of policies find, or nil if they may be any.
// The destinations of both states are the same.
func (p *destinationPlaces) foundBy(policies []*resource.Policy) []resource.Destination {
	only := []resource.Destination{}
	for _, policy := range policies {
		for i := range policy.To {
			t := &policy.To[i].TargetRef
			if t.Kind == resource.TargetMesh || t.Kind.IsRoute() {
				return nil
			}
			for _, found := range p.after.Destinations().Find(policy, t) {
				if !slices.Contains(only, found.Destination) {
					only = append(only, found.Destination)
				}
			}
			if len(only) > mostFound {
				return nil
			}
		}
	}
	return only
}

// toKinds returns the kinds with `to` items that select the dataplanes of one of two classes.
// It also returns those of them whose policies differ, in identity or content, and the
// policies that one class lacks. A nil class has none.
func toKinds(before, after *classConfigs) (differing, all []*resource.Kind, changed []*resource.Policy) {
	for _, s := range []*classConfigs{before, after} {
		if s == nil {
			continue
		}
		for _, config := range s.configs {
			kind := config.Kind()
			if kind.To == nil || slices.Contains(all, kind) {
				continue
			}
			all = append(all, kind)
			if policies := changedPolicies(before.configFor(kind.Name).Matched(), after.configFor(kind.Name).Matched()); len(policies) > 0 {
				differing, changed = append(differing, kind), append(changed, policies...)
			}
		}
	}
	return differing, all, changed
}

// placesFor returns the places of a dataplane that differ, sorted, given the profiles that it had
// and has. Equal results are one slice.
func (p *destinationPlaces) placesFor(d *resource.Dataplane, before, after *profileView, scope results.Scope) []results.Place {
	pair := p.pair(before, after, scope)
	if len(pair.kinds) == 0 {
		return nil
	}
	old := p.before.versionOf(d)
	if old == d && pair.only != nil && !p.after.Destinations().MayReach(d, pair.only) {
		return nil
	}
	is := p.after.Destinations().Outbounds(d)
	was := is
	if old != d || p.before.Destinations() != p.after.Destinations() {
		was = p.before.Destinations().Outbounds(old)
	}
	lists := listsOf(was, is)
	if places, known := pair.shared[lists]; known {
		return places
	}
	var places []results.Place
	eachOutbound(was, is, func(was, is *destination.Outbound) {
		if was == is && pair.only != nil && !slices.Contains(pair.only, is.Destination) {
			return
		}
		places = append(places, pair.places(was, is)...)
	})
	places = p.list(places)
	if semantics.IsTransparent(d) { // else no other dataplane has the list
		pair.shared[lists] = places
	}
	return places
}

// list returns the one list of places, sorted, that has the given ones; nil for none.
func (p *destinationPlaces) list(places []results.Place) []results.Place {
	if len(places) == 0 {
		return nil
	}
	slices.SortFunc(places, comparePlaces)
	places = slices.Compact(places)
	var hash uint64
	for i := range places {
		hash = hash*31 + maphash.Comparable(p.seed, places[i])
	}
	same := func(l *placeList) bool { return slices.Equal(l.places, places) }
	if known, found := p.lists.Find(hash, same); found {
		return known.places
	}
	p.lists.Add(hash, &placeList{places})
	return places
}

// eachOutbound visits the ports of destinations to which a dataplane has outbounds, as they
// were and as they are; nil if one of the lists lacks it. Both lists may be one.
func eachOutbound(before, after []destination.Outbound, visit func(was, is *destination.Outbound)) {
	if listsOf(before, before) == listsOf(after, after) {
		for i := range after {
			visit(&after[i], &after[i])
		}
		return
	}
	type port struct {
		resource.ID
		number uint32
	}
	pairs := map[port][2]*destination.Outbound{}
	for side, list := range [][]destination.Outbound{before, after} {
		for i := range list {
			o := &list[i]
			key := port{o.Destination.Identity().ID, o.Port.Number}
			pair := pairs[key]
			pair[side] = o
			pairs[key] = pair
		}
	}
	for _, pair := range pairs {
		visit(pair[0], pair[1])
	}
}

// places returns the places of an outbound that differ.
func (c *confsPair) places(was, is *destination.Outbound) []results.Place {
	key := portPair{portAt(was), portAt(is)}
	places, known := c.known[key]
	if known {
		return places
	}
	at := results.Place{Port: cmp.Or(key.after.port, key.before.port)}
	at.Destination = cmp.Or(key.after.destination, key.before.destination).Identity().ID
	for _, k := range c.kinds {
		var before, after results.OutboundConfig
		if was != nil {
			before = k.before.ConfigFor(was)
		}
		if is != nil {
			after = k.after.ConfigFor(is)
		}
		places = results.AppendOutbound(places, k.kind, at, before, after)
	}
	c.known[key] = places
	return places
}

func comparePlaces(a, b results.Place) int {
	return cmp.Or(strings.Compare(a.Policies, b.Policies), a.Destination.Compare(b.Destination), cmp.Compare(a.Port, b.Port),
		cmp.Compare(a.Kind, b.Kind), a.Route.Compare(b.Route))
}

// ChangedClients returns the dataplanes of both states whose confs for a destination differ,
// sorted by identity, as they are in the second state; the zero identity means any
// destination.
func ChangedClients(before, after *State, id resource.ID) (clients []*resource.Dataplane) {
	p := newDestinationPlaces(before, after)
	for slot := range after.allSlots() {
		d := after.dataplanes.Value(slot).resource
		if d == nil || before.versionOf(d) == nil {
			continue
		}
		places := p.placesFor(d, before.profileOf(before.versionOf(d)), after.profileAt(slot), results.Enforced)
		if slices.ContainsFunc(places, func(at results.Place) bool { return at.Destination == id || id == resource.ID{} }) {
			clients = append(clients, d)
		}
	}
	slices.SortFunc(clients, func(a, b *resource.Dataplane) int { return a.ID.Compare(b.ID) })
	return clients
}
