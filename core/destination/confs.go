package destination

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// Confs contains the confs of a dataplane's outbounds by the policies of one kind. It
// merges them on demand. It is safe for concurrent use. A nil Confs contains none.
type Confs struct {
	*kindItems
	selected slotSet          // the policies that select the dataplane
	group    *group           // by the items for every outbound
	ofRoutes []*item          // selected items that refer to routes
	routed   map[int][]routed // by destination
}

// group contains a list of items for every outbound, which dataplanes share.
type group struct {
	id         uint64 // in the keys of confs
	everywhere []*item
	youngest   *memo
	common     *rules.Effective // of an outbound without own items
}

// Confs returns the confs of a dataplane by the policies of one kind, or nil for a kind
// without `to`. Matched is the list of the policies of the kind that select the
// dataplane; routes are the policies of the route kinds that select it, in any order.
// All of them must be policies of the index.
//
// The first call for a kind resolves the references of all its policies, unless an earlier
// version of the index did so. The cost of a later call is proportional to the pages of
// the list that no earlier list had.
func (x *Index) Confs(kind *resource.Kind, matched rules.Matched, routes []*resource.Policy) *Confs {
	if kind.To == nil {
		return nil
	}
	k := x.itemsOf(kind)
	c := &Confs{kindItems: k, selected: x.selectedBy(matched)}
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
	var buffer [8]*item
	own := c.own(o, buffer[:0])
	config.Effective = c.merge(nil, own)
	for _, r := range routed {
		if r.selects(o.Section) {
			config.Routes = append(config.Routes, rules.RouteConfig{Route: r.route, Effective: c.ofRoute(&r, own, config.Effective)})
		}
	}
	slices.SortFunc(config.Routes, func(a, b rules.RouteConfig) int { return cmp.Compare(a.Route.KRI(), b.Route.KRI()) })
	return config
}

// routed is a route that has a `to` item for a destination.
type routed struct {
	route    *resource.Policy
	use      *routeUse
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
		use := x.caches.useOf(route)
		for _, found := range use.foundBy(x.set, route) {
			list := of[found.at]
			if len(list) == 0 || list[len(list)-1].route != route {
				list = append(list, routed{route: route, use: use})
			}
			last := &list[len(list)-1]
			last.sections = append(last.sections, found.Section)
			of[found.at] = list
		}
	}
	return of
}

// own appends the items that select the destination of an outbound, or its port.
func (c *Confs) own(o *Outbound, items []*item) []*item {
	for _, it := range c.selecting(o.at) {
		if (it.section == "" || it.section == o.Section) && c.selected.has(it.item) {
			items = append(items, it.item)
		}
	}
	return items
}

// ofRoute returns the conf of a route of an outbound, given the outbound's own items
// and its conf.
func (c *Confs) ofRoute(r *routed, own []*item, outbound *rules.Effective) *rules.Effective {
	var items []*item
	for _, it := range c.ofRoutes {
		if c.reading.Semantics.RefersToRoute(it.Policy, it.targetRef(), r.route) {
			items = append(items, it)
		}
	}
	switch {
	case c.reading.Semantics.RoutesHaveOutboundItems():
		return c.merge(r, c.joined(own, items))
	case len(items) == 0:
		return outbound
	}
	return c.merge(r, items)
}

// groupOf returns the group of items for every outbound.
func (k *kindItems) groupOf(everywhere []*item) *group {
	key := appendIDs(nil, everywhere)
	at := k.none.youngest(everywhere)
	at.mu.Lock()
	defer at.mu.Unlock()
	known := at.groups[string(key)]
	if known == nil {
		known = &group{id: k.caches.nextID(), everywhere: everywhere, youngest: at}
		known.common = k.mergeItems(nil, everywhere)
		if at.groups == nil {
			at.groups = map[string]*group{}
		}
		at.groups[string(key)] = known
	}
	return known
}

// merge merges the items for every outbound and the items of a list, for a route or, if
// r is nil, for an outbound.
func (c *Confs) merge(r *routed, items []*item) *rules.Effective {
	if r == nil && len(items) == 0 {
		return c.group.common
	}
	var buffer [64]byte
	key := binary.AppendUvarint(buffer[:0], c.group.id)
	at := c.group.youngest.youngest(items)
	var route *resource.Policy
	if r != nil && c.attached > 0 {
		route = r.route
		key = append(binary.AppendUvarint(key, r.use.id), 0)
		if r.use.id > at.id {
			at = &r.use.memo
		}
	}
	key = appendIDs(key, items)
	at.mu.Lock()
	defer at.mu.Unlock()
	if known, ok := at.merged[string(key)]; ok {
		return known
	}
	effective := c.mergeItems(route, c.joined(items, c.group.everywhere))
	if at.merged == nil {
		at.merged = map[string]*rules.Effective{}
	}
	at.merged[string(key)] = effective
	return effective
}

// mergeItems merges items, which are in order, for a route or an outbound. A policy that is
// attached to a route applies to that route alone (SPEC 4.3).
func (k *kindItems) mergeItems(route *resource.Policy, items []*item) *rules.Effective {
	contributions := make([]rules.Contribution, 0, len(items))
	for _, it := range items {
		p := it.Policy
		if p.TargetRef.Kind.IsRoute() && (route == nil || !k.reading.Semantics.RefersToRoute(p, &p.TargetRef, route)) {
			continue
		}
		contributions = append(contributions, rules.Contribution{Origin: it.Origin, Conf: p.To[it.Index].Conf})
	}
	return rules.Merge(k.kind.To.Conf, contributions)
}

// joined returns the items of two lists in order.
func (k *kindItems) joined(a, b []*item) []*item {
	all := make([]*item, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if k.compare(a[0], b[0]) < 0 {
			all, a = append(all, a[0]), a[1:]
		} else {
			all, b = append(all, b[0]), b[1:]
		}
	}
	return append(append(all, a...), b...)
}
