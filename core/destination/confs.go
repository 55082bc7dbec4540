package destination

import (
	"cmp"
	"encoding/binary"
	"iter"
	"slices"
	"sort"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// Confs returns the confs of outbounds of one dataplane, which are of this set, by the
// policies of one kind, parallel to the outbounds; nil for a kind without `to`. Matched is
// the list of the policies of the kind that select the dataplane; routes are the policies
// of the route kinds that do, in any order.
//
// References are resolved once for all outbounds. Outbounds and routes with the same
// items share a conf. Most destinations have neither an item nor a route of their own: their
// outbounds have the conf of the items for every outbound, and are not examined.
func (s *Set) Confs(kind *resource.Kind, outbounds []Outbound, matched rules.Matched, routes []*resource.Policy) []rules.OutboundConfig {
	if kind.To == nil || len(outbounds) == 0 {
		return nil
	}
	c := s.newConcatenation(kind, matched)
	routed := map[int][]routed{} // by destination
	if !kind.IsRoute() {
		routed = s.routed(routes)
	}
	configs := make([]rules.OutboundConfig, len(outbounds))
	if common := c.merge(nil); common != nil {
		for i := range configs {
			configs[i].Effective = common
		}
	}
	for i := range c.special(outbounds, routed) {
		o := &outbounds[i]
		own := c.of(o)
		configs[i].Effective = c.merge(nil, own)
		for _, r := range routed[o.at] {
			if r.selects(o.Section) {
				configs[i].Routes = append(configs[i].Routes, rules.RouteConfig{Route: r.route, Effective: c.ofRoute(r.route, own, configs[i].Effective)})
			}
		}
		slices.SortFunc(configs[i].Routes, func(a, b rules.RouteConfig) int { return cmp.Compare(a.Route.KRI(), b.Route.KRI()) })
	}
	return configs
}

// special yields the indexes of the outbounds whose destinations have items or routes.
// Those of a transparent proxy are in the order of the destinations, so they are found by
// binary search; a list that a dataplane writes is in any order, and short.
func (c *concatenation) special(outbounds []Outbound, routed map[int][]routed) iter.Seq[int] {
	return func(yield func(int) bool) {
		if !isSorted(outbounds) {
			for i := range outbounds {
				if !yield(i) {
					return
				}
			}
			return
		}
		destinations := make(map[int]bool, len(c.byDestination)+len(routed))
		for destination := range c.byDestination {
			destinations[destination] = true
		}
		for destination := range routed {
			destinations[destination] = true
		}
		for destination := range destinations {
			i := sort.Search(len(outbounds), func(i int) bool { return outbounds[i].at >= destination })
			for ; i < len(outbounds) && outbounds[i].at == destination; i++ {
				if !yield(i) {
					return
				}
			}
		}
	}
}

// isSorted reports whether outbounds are in the order of their destinations.
func isSorted(outbounds []Outbound) bool {
	for i := 1; i < len(outbounds); i++ {
		if outbounds[i].at < outbounds[i-1].at {
			return false
		}
	}
	return true
}

// routed is a route that has a `to` item for a destination.
type routed struct {
	route    *resource.Policy
	sections []string // to which items refer; empty: all
}

func (r *routed) selects(section string) bool {
	return slices.ContainsFunc(r.sections, func(s string) bool { return s == "" || s == section })
}

// routed returns the routes of each destination.
func (s *Set) routed(routes []*resource.Policy) map[int][]routed {
	of := map[int][]routed{}
	for _, route := range routes {
		for i := range route.To {
			for _, found := range s.Find(route, &route.To[i].TargetRef) {
				list := of[found.at]
				if len(list) == 0 || list[len(list)-1].route != route {
					list = append(list, routed{route: route})
				}
				last := &list[len(list)-1]
				last.sections = append(last.sections, found.Section)
				of[found.at] = list
			}
		}
	}
	return of
}

// concatenation is the `to` items of the policies that select a dataplane, in order, by
// what they select. The numbers of items are positions in items.
type concatenation struct {
	set           *Set
	kind          *resource.Kind
	items         []rules.Contribution
	everywhere    []int // items that select every outbound
	byDestination map[int][]sectionItem
	ofRoutes      []int // items that refer to routes

	attached bool // a policy is attached to a route

	// merged has the confs by the numbers of their items, without those for every outbound,
	// and by the route if a policy is attached to one.
	merged map[string]*rules.Effective
	key    []byte // of the last one, for its memory
}

// sectionItem is an item that selects a destination, or a section of it.
type sectionItem struct {
	section string // empty: all
	item    int
}

func (s *Set) newConcatenation(kind *resource.Kind, matched rules.Matched) *concatenation {
	c := &concatenation{set: s, kind: kind, byDestination: map[int][]sectionItem{}, merged: map[string]*rules.Effective{}}
	var origins []rules.Origin
	for _, m := range matched.All() {
		for i := range m.Policy.To {
			origins = append(origins, rules.Origin{Policy: m.Policy, Index: i})
		}
	}
	for number, o := range s.semantics.DestinationItems(origins) {
		c.items = append(c.items, rules.Contribution{Origin: o, Conf: o.Policy.To[o.Index].Conf})
		c.attached = c.attached || o.Policy.TargetRef.Kind.IsRoute()
		switch t := &o.Policy.To[o.Index].TargetRef; {
		case t.Kind == resource.TargetMesh:
			c.everywhere = append(c.everywhere, number)
		case t.Kind.IsRoute():
			c.ofRoutes = append(c.ofRoutes, number)
		default:
			for _, found := range s.Find(o.Policy, t) {
				c.byDestination[found.at] = append(c.byDestination[found.at], sectionItem{found.Section, number})
			}
		}
	}
	return c
}

// of returns the items that select the destination of an outbound, or its port.
func (c *concatenation) of(o *Outbound) []int {
	var items []int
	for _, item := range c.byDestination[o.at] {
		if item.section == "" || item.section == o.Section {
			items = append(items, item.item)
		}
	}
	return items
}

// ofRoute returns the conf of a route of an outbound with items of its own and a conf.
func (c *concatenation) ofRoute(route *resource.Policy, own []int, outbound *rules.Effective) *rules.Effective {
	var items []int
	for _, number := range c.ofRoutes {
		p := c.items[number].Policy
		if c.set.semantics.RefersToRoute(p, &p.To[c.items[number].Index].TargetRef, route) {
			items = append(items, number)
		}
	}
	switch {
	case c.set.semantics.RoutesHaveOutboundItems():
		return c.merge(route, own, items)
	case len(items) == 0:
		return outbound
	}
	return c.merge(route, items)
}

// merge merges the items for every outbound and those of lists of numbers, for a route, or
// for an outbound if it is nil. A policy that is attached to a route applies to that route
// alone (SPEC 4.3).
func (c *concatenation) merge(route *resource.Policy, lists ...[]int) *rules.Effective {
	key := c.key[:0]
	if c.attached && route != nil {
		key = append(append(key, route.KRI()...), 0)
	}
	for _, list := range lists {
		for _, number := range list {
			key = binary.AppendUvarint(key, uint64(number))
		}
	}
	c.key = key
	if known, ok := c.merged[string(key)]; ok {
		return known
	}
	numbers := slices.Concat(append(lists, c.everywhere)...)
	if c.attached {
		numbers = slices.DeleteFunc(numbers, func(number int) bool {
			p := c.items[number].Policy
			return p.TargetRef.Kind.IsRoute() && (route == nil || !c.set.semantics.RefersToRoute(p, &p.TargetRef, route))
		})
	}
	slices.Sort(numbers)
	contributions := make([]rules.Contribution, len(numbers))
	for i, number := range numbers {
		contributions[i] = c.items[number]
	}
	effective := rules.Merge(c.kind.To.Conf, contributions)
	c.merged[string(key)] = effective
	return effective
}
