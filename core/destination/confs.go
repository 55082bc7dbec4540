package destination

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sync"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// Confs contains the confs of a dataplane's outbounds by the policies of one kind. It
// merges them on demand. It is safe for concurrent use. A nil Confs contains none.
type Confs struct {
	*kindItems
	selected numberSet        // the items of the policies that select the dataplane
	group    *group           // by the items for every outbound
	ofRoutes []int            // selected items that refer to routes
	routed   map[int][]routed // by destination
}

// group contains a list of items for every outbound, and the confs that were merged
// for dataplanes with these items.
type group struct {
	everywhere []int
	common     *rules.Effective // of an outbound without own items

	mu sync.Mutex
	// merged contains confs by the numbers of their other items and, if a policy is
	// attached to a route, by the route.
	merged map[string]*rules.Effective
}

// Confs returns the confs of a dataplane by the policies of one kind, or nil for a kind
// without `to`. Matched is the list of the policies of the kind that select the
// dataplane; routes are the policies of the route kinds that select it, in any order.
// All of them must be policies of the index.
//
// The first call for a kind resolves the references of all its policies. The cost of a
// later call is proportional to the pages of the list that no earlier list had.
func (x *Index) Confs(kind *resource.Kind, matched rules.Matched, routes []*resource.Policy) *Confs {
	if kind.To == nil {
		return nil
	}
	k := x.itemsOf(kind)
	c := &Confs{kindItems: k, selected: k.selectedBy(matched)}
	c.group = k.groupOf(c.selected.among(k.everywhere))
	c.ofRoutes = c.selected.among(k.ofRoutes)
	if !kind.IsRoute() {
		c.routed = x.routed(routes)
	}
	return c
}

// All returns the confs of outbounds of the dataplane, parallel to them.
func (c *Confs) All(outbounds []Outbound) []rules.OutboundConfig {
	if c == nil {
		return nil
	}
	configs := make([]rules.OutboundConfig, len(outbounds))
	for i := range outbounds {
		configs[i] = c.Of(&outbounds[i])
	}
	return configs
}

// Of returns the conf of an outbound of the dataplane.
func (c *Confs) Of(o *Outbound) (config rules.OutboundConfig) {
	if c == nil {
		return config
	}
	routed := c.routed[o.at]
	if len(c.selecting(o.at)) == 0 && len(routed) == 0 {
		config.Effective = c.group.common
		return config
	}
	var buffer [8]int
	own := c.own(o, buffer[:0])
	config.Effective = c.merge(nil, own)
	for _, r := range routed {
		if r.selects(o.Section) {
			config.Routes = append(config.Routes, rules.RouteConfig{Route: r.route, Effective: c.ofRoute(r.route, own, config.Effective)})
		}
	}
	slices.SortFunc(config.Routes, func(a, b rules.RouteConfig) int { return cmp.Compare(a.Route.KRI(), b.Route.KRI()) })
	return config
}

// routed is a route that has a `to` item for a destination.
type routed struct {
	route    *resource.Policy
	sections []string // the sections to which items refer; empty: all
}

func (r *routed) selects(section string) bool {
	return slices.ContainsFunc(r.sections, func(s string) bool { return s == "" || s == section })
}

// routed returns the routes of each destination.
func (x *Index) routed(routes []*resource.Policy) map[int][]routed {
	if len(routes) == 0 {
		return nil
	}
	of := map[int][]routed{}
	for _, route := range routes {
		for _, found := range x.foundByRoute(route) {
			list := of[found.at]
			if len(list) == 0 || list[len(list)-1].route != route {
				list = append(list, routed{route: route})
			}
			last := &list[len(list)-1]
			last.sections = append(last.sections, found.Section)
			of[found.at] = list
		}
	}
	return of
}

// own appends the items that select the destination of an outbound, or its port.
func (c *Confs) own(o *Outbound, items []int) []int {
	for _, item := range c.selecting(o.at) {
		if (item.section == "" || item.section == o.Section) && c.selected.has(item.item) {
			items = append(items, item.item)
		}
	}
	return items
}

// ofRoute returns the conf of a route of an outbound, given the outbound's own items
// and its conf.
func (c *Confs) ofRoute(route *resource.Policy, own []int, outbound *rules.Effective) *rules.Effective {
	var items []int
	for _, number := range c.ofRoutes {
		p := c.items[number].Policy
		if c.index.set.semantics.RefersToRoute(p, &p.To[c.items[number].Index].TargetRef, route) {
			items = append(items, number)
		}
	}
	switch {
	case c.index.set.semantics.RoutesHaveOutboundItems():
		return c.merge(route, slices.Concat(own, items))
	case len(items) == 0:
		return outbound
	}
	return c.merge(route, items)
}

// groupOf returns the group of items for every outbound.
func (k *kindItems) groupOf(everywhere []int) *group {
	key := appendNumbers(nil, everywhere)
	k.mu.Lock()
	defer k.mu.Unlock()
	known := k.groups[string(key)]
	if known == nil {
		known = &group{everywhere: everywhere, merged: map[string]*rules.Effective{}}
		known.common = k.mergeItems(nil, everywhere)
		k.groups[string(key)] = known
	}
	return known
}

func appendNumbers(key []byte, numbers []int) []byte {
	for _, number := range numbers {
		key = binary.AppendUvarint(key, uint64(number))
	}
	return key
}

// merge merges the items for every outbound and the items of a list, for a route or, if
// route is nil, for an outbound.
func (c *Confs) merge(route *resource.Policy, items []int) *rules.Effective {
	if route == nil && len(items) == 0 {
		return c.group.common
	}
	var buffer [64]byte
	key := buffer[:0]
	if c.attached && route != nil {
		key = append(append(key, route.KRI()...), 0)
	}
	key = appendNumbers(key, items)
	g := c.group
	g.mu.Lock()
	defer g.mu.Unlock()
	if known, ok := g.merged[string(key)]; ok {
		return known
	}
	effective := c.mergeItems(route, slices.Concat(items, g.everywhere))
	g.merged[string(key)] = effective
	return effective
}

// mergeItems merges the items with the given numbers, for a route or an outbound. A policy
// that is attached to a route applies to that route alone (SPEC 4.3).
func (k *kindItems) mergeItems(route *resource.Policy, numbers []int) *rules.Effective {
	numbers = slices.Sorted(slices.Values(numbers))
	contributions := make([]rules.Contribution, 0, len(numbers))
	for _, number := range numbers {
		p := k.items[number].Policy
		if p.TargetRef.Kind.IsRoute() && (route == nil || !k.index.set.semantics.RefersToRoute(p, &p.TargetRef, route)) {
			continue
		}
		contributions = append(contributions, k.items[number])
	}
	return rules.Merge(k.kind.To.Conf, contributions)
}
