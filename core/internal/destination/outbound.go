package destination

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/internal/items"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Outbound is an outbound of a dataplane: a port of a destination, and the address and
// port to which the workload connects.
type Outbound struct {
	Destination resource.Destination
	Port        resource.DestinationPort
	Section     string // the section by which references select the port
	Address     string
	Listens     uint32 // the port at the address
}

// list contains outbounds at virtual addresses.
type list struct {
	outbounds []Outbound
	addresses map[netip.Addr]bool
}

// Outbounds returns the outbounds of a dataplane whose destinations are resources
// (SPEC 17.3). Dataplanes share the slice; the caller must not change it.
func (s *Directory) Outbounds(d *resource.Dataplane) []Outbound {
	if len(s.all) == 0 {
		return nil
	}
	if !semantics.IsTransparent(d) {
		return s.listed(d)
	}
	return s.reachedBy(d).without(d)
}

// listed returns the listed outbounds of the dataplane whose references find a port.
func (s *Directory) listed(d *resource.Dataplane) []Outbound {
	var outbounds []Outbound
	for i := range d.Outbounds {
		o := &d.Outbounds[i]
		if o.Backend == nil {
			continue
		}
		if at, port, ok := s.backend(&d.Meta, o.Backend); ok && !s.semantics.IsOfOtherZone(s.all[at], d.Zone()) {
			outbounds = append(outbounds, Outbound{s.all[at], port, s.semantics.ListedSection(port), o.Address, o.Port})
		}
	}
	return outbounds
}

// MayReach reports whether a dataplane may have an outbound to one of a few destinations. It
// costs less than the list of the outbounds.
func (s *Directory) MayReach(d *resource.Dataplane, few []resource.Destination) bool {
	if semantics.IsTransparent(d) {
		return true // its list is shared
	}
	return slices.ContainsFunc(d.Outbounds, func(o resource.Outbound) bool {
		ref := o.Backend
		return ref != nil && slices.ContainsFunc(few, func(to resource.Destination) bool {
			return items.KindOf(to) == ref.Kind && items.Refers(s.semantics, &d.Meta, ref.Name, ref.Namespace, ref.Labels, to.Identity())
		})
	})
}

// BackendsHaveTags reports whether a backend of a route may be a service by its tag.
func (s *Directory) BackendsHaveTags() bool { return s.semantics.SelectsByTags() }

// Backend returns an outbound to the port to which a backend of a route refers. It has no
// address. If the reference finds several destinations, it leads to the oldest.
func (s *Directory) Backend(route *resource.Policy, ref *resource.BackendRef) (Outbound, bool) {
	at, port, ok := s.backend(&route.Meta, s.semantics.RouteBackend(route, ref))
	if !ok {
		return Outbound{}, false
	}
	return Outbound{Destination: s.all[at], Port: port, Section: port.SectionName()}, true
}

// backend returns the port to which a resource refers. If the reference finds several
// destinations, it returns the port of the oldest, because one address leads to one
// destination.
func (s *Directory) backend(from *resource.Meta, ref *resource.BackendRef) (at int, port resource.DestinationPort, ok bool) {
	at = -1
	for found := range s.find(from, ref.Kind, ref.Name, ref.Namespace, ref.Labels) {
		if at < 0 || s.all[found].Created().Before(s.all[at].Created()) {
			at = found
		}
	}
	if at < 0 {
		return 0, port, false
	}
	port, ok = items.PortOf(s.all[at], ref.Port)
	return at, port, ok
}

// Resolves reports whether the reference of an outbound of a dataplane finds a port.
func (s *Directory) Resolves(d *resource.Dataplane, ref *resource.BackendRef) bool {
	_, _, ok := s.backend(&d.Meta, ref)
	return ok
}

// Reaches reports whether a reference in the reachableBackends of a dataplane finds a
// destination. If the reference has a port, the destination must have it.
func (s *Directory) Reaches(d *resource.Dataplane, ref *resource.BackendRef) bool {
	for at := range s.find(&d.Meta, ref.Kind, ref.Name, ref.Namespace, ref.Labels) {
		if s.semantics.IsOfOtherZone(s.all[at], d.Zone()) {
			continue
		}
		if _, has := items.PortOf(s.all[at], ref.Port); has || ref.Port == 0 {
			return true
		}
	}
	return false
}

// reachedBy returns the outbounds that a transparent proxy reaches. Dataplanes with the
// same filter share the list.
func (s *Directory) reachedBy(d *resource.Dataplane) *list {
	refs, limited := reachable(d)
	key := ""
	if s.zoned {
		key = d.Zone()
	}
	switch {
	case limited:
		key = filterKey(d, refs)
	case !s.semantics.ReachesAll(s.mesh, d.TransparentProxy):
		return new(list)
	}
	if known, ok := s.lists.Load(key); ok {
		return known.(*list)
	}
	made, _ := s.lists.LoadOrStore(key, s.newList(d, refs, limited))
	return made.(*list)
}

// reachable returns the references to the destinations that a dataplane reaches: its
// reachableBackends and its listed outbounds. It reports whether the destinations are
// limited to these.
func reachable(d *resource.Dataplane) (refs []resource.BackendRef, limited bool) {
	if d.TransparentProxy != nil && d.TransparentProxy.ReachableBackends != nil {
		refs, limited = slices.Clone(d.TransparentProxy.ReachableBackends), true
	}
	for i := range d.Outbounds {
		if backend := d.Outbounds[i].Backend; backend != nil {
			refs, limited = append(refs, *backend), true
		}
	}
	return refs, limited
}

// filterKey returns different texts for references that may find different destinations.
// The result of a reference depends on the zone and the namespace of the dataplane.
func filterKey(d *resource.Dataplane, refs []resource.BackendRef) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q %q", d.Zone(), d.HomeNamespace())
	for i := range refs {
		r := &refs[i]
		fmt.Fprintf(&b, " %d %q %q %d", r.Kind, r.Name, r.Namespace, r.Port)
		for _, label := range r.Labels {
			fmt.Fprintf(&b, " %q=%q", label.Key, label.Value)
		}
	}
	return b.String()
}

// newList returns the outbounds of all destinations with a virtual address. If the
// dataplane limits them by references, it returns those of the referred destinations.
// They are in the order of destinations and ports.
func (s *Directory) newList(d *resource.Dataplane, refs []resource.BackendRef, limited bool) *list {
	l := &list{addresses: map[netip.Addr]bool{}}
	if !limited {
		for at := range s.all {
			if !s.semantics.IsOfOtherZone(s.all[at], d.Zone()) {
				l.add(s, at, func(uint32) bool { return true })
			}
		}
		return l
	}
	reached := map[int][]uint32{} // the numbers of ports, by destination; 0: all
	for i := range refs {
		for at := range s.reached(d, &refs[i]) {
			reached[at] = append(reached[at], s.reachedPort(at, refs[i].Port))
		}
	}
	for _, at := range slices.Sorted(maps.Keys(reached)) {
		ports := reached[at]
		l.add(s, at, func(port uint32) bool { return slices.Contains(ports, 0) || slices.Contains(ports, port) })
	}
	return l
}

// reached yields the destinations that a reference in the reachableBackends of a dataplane
// reaches.
func (s *Directory) reached(d *resource.Dataplane, r *resource.BackendRef) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		first := -1
		for at := range s.find(&d.Meta, r.Kind, r.Name, r.Namespace, r.Labels) {
			if s.semantics.IsOfOtherZone(s.all[at], d.Zone()) {
				continue
			}
			if s.semantics.ReachesEachPort() || r.Port == 0 || len(r.Labels) == 0 {
				if !yield(at) {
					return
				}
				continue
			}
			if _, has := items.PortOf(s.all[at], r.Port); has && (first < 0 || at < first) {
				first = at
			}
		}
		if first >= 0 {
			yield(first)
		}
	}
}

// Missed returns the destination that a reference in reachableBackends reaches. It also returns
// the first other destination with the port that the reference finds and does not reach; nil if
// there is none.
func (s *Directory) Missed(d *resource.Dataplane, r *resource.BackendRef) (reached, missed resource.Destination) {
	if s.semantics.ReachesEachPort() || r.Port == 0 || len(r.Labels) == 0 {
		return nil, nil
	}
	for at := range s.reached(d, r) {
		reached = s.all[at]
	}
	for at := range s.find(&d.Meta, r.Kind, r.Name, r.Namespace, r.Labels) {
		found := s.all[at]
		if _, has := items.PortOf(found, r.Port); has && found != reached && !s.semantics.IsOfOtherZone(found, d.Zone()) {
			return reached, found
		}
	}
	return reached, nil
}

// reachedPort returns the port that a reference with a port, or 0 for none, reaches of a
// destination; 0 means all ports.
func (s *Directory) reachedPort(at int, port uint32) uint32 {
	if port != 0 || s.semantics.ReachesEachPort() {
		return port
	}
	for _, p := range s.all[at].Ports() {
		if p.Name == "" {
			return p.Number
		}
	}
	return 0
}

// add adds an outbound for each of some ports of a destination that has a virtual address.
func (l *list) add(s *Directory, at int, reaches func(port uint32) bool) {
	d := s.all[at]
	vips := d.State().VIPs
	if len(vips) == 0 {
		return
	}
	address := ""
	for _, port := range d.Ports() {
		if !reaches(port.Number) {
			continue
		}
		if address == "" {
			address = vips[0].String()
			l.addresses[vips[0]] = true
		}
		l.outbounds = append(l.outbounds, Outbound{d, port, port.SectionName(), address, port.Number})
	}
}

// without returns the outbounds, except outbounds at the address and port of an inbound
// of the dataplane. The pod of a headless service has such outbounds.
func (l *list) without(d *resource.Dataplane) []Outbound {
	own := map[netip.AddrPort]bool{}
	for i := range d.Inbounds {
		in := &d.Inbounds[i]
		address, err := netip.ParseAddr(cmp.Or(in.Address, d.Address))
		if err != nil {
			continue
		}
		if l.addresses[address] {
			own[netip.AddrPortFrom(address, uint16(in.Port))] = true
		}
	}
	if len(own) == 0 {
		return l.outbounds
	}
	return slices.DeleteFunc(slices.Clone(l.outbounds), func(o Outbound) bool {
		return own[netip.AddrPortFrom(o.Destination.State().VIPs[0], uint16(o.Listens))]
	})
}
