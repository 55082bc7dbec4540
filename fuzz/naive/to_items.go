package naive

import (
	"slices"
	"sort"

	"github.com/meshmatch/meshmatch/core/resource"
)

// traffic is what `to` items apply to: the requests of an outbound by its tags, of an
// outbound to a port of a destination, or of a listener of a builtin gateway. One of target
// and listener is set, or none: then it is an outbound by its tags.
type traffic struct {
	tags     resource.Tags
	target   *target
	listener *listener
	route    *resource.Policy // only the requests of this route; nil: all
}

// listener is a listener of a builtin gateway.
type listener struct {
	number   int
	hostname string // only the items for this host name; empty: all
}

// toItems returns the items of the ordered policies that apply to traffic, in order (SPEC
// 4.1 to 4.3, 17.3). It is the one rule for all outbounds, listeners and parameters.
func (m *mesh) toItems(policies []matched, of *traffic) []item {
	var everywhere, own, ofRoute []item
	for _, p := range policies {
		if !m.contributes(p, of) {
			continue
		}
		for i, it := range listFor(p.Policy, of) {
			next := item{p.Policy, i, it.Conf}
			switch ref := &it.TargetRef; {
			case ref.Kind == resource.TargetMesh:
				if of.listener == nil || of.listener.hostname == "" || slices.Contains(hostNames([]item{next}), of.listener.hostname) {
					everywhere = append(everywhere, next)
				}
			case of.listener != nil:
			case of.target != nil && m.selectsTarget(p.Policy, ref, of.target), of.target == nil && selectsTags(ref, of.tags):
				own = append(own, next)
			case of.route != nil && m.isRouteOf(p.Policy, ref, of.route):
				ofRoute = append(ofRoute, next)
			}
		}
	}
	items := slices.Concat(everywhere, own, ofRoute)
	if of.target != nil && m.kumaLike() && len(ofRoute) > 0 { // the conf of a route has no items of the destination
		items = slices.Concat(everywhere, ofRoute)
	}
	m.sortItems(items, policies, of.target != nil && m.kumaLike())
	return items
}

// contributes reports whether items of a policy may apply to traffic.
func (m *mesh) contributes(p matched, of *traffic) bool {
	attached := targetsRoute(p.Policy)
	switch {
	case of.listener != nil:
		return !attached && p.listeners[of.listener.number]
	case of.target != nil && m.kumaLike():
		return !attached
	case of.target == nil && m.missesTags(p.Policy):
		return false
	}
	return !attached || of.route != nil && m.isRouteOf(p.Policy, &p.TargetRef, of.route)
}

// listFor returns the items of a policy, or those for gateways if it has such items.
func listFor(p *resource.Policy, of *traffic) []resource.Item {
	if of.listener != nil && len(p.Gateway) > 0 {
		return p.Gateway
	}
	return p.To
}

// sortItems sorts items by their policies and by their index, or by the order that Kuma
// has for the items of destinations.
func (m *mesh) sortItems(items []item, policies []matched, asKuma bool) {
	position := map[*resource.Policy]int{}
	for i, p := range policies {
		position[p.Policy] = i
	}
	sort.SliceStable(items, func(i, j int) bool {
		a, b := items[i], items[j]
		c := position[a.policy] - position[b.policy]
		if asKuma {
			c = m.compareKumaItems(a, b)
		}
		if c != 0 {
			return c < 0
		}
		return a.index < b.index
	})
}

// missesTags reports whether the items of a policy apply to no outbound that is given by
// tags: in Kuma, if one of them is for a MeshHTTPRoute (SPEC 17.3).
func (m *mesh) missesTags(p *resource.Policy) bool {
	for i := range p.To {
		if m.kumaLike() && p.To[i].TargetRef.Kind == resource.TargetMeshHTTPRoute {
			return true
		}
	}
	return false
}
