package destination

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/items"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// Confs contains the confs of a dataplane's outbounds by the policies of one kind. It
// merges them on demand. It is safe for concurrent use. A nil Confs contains none.
type Confs struct {
	*kindItems
	selected slotSet      // the policies that select the dataplane: of the kind, and the routes
	group    *group       // by the items for every outbound
	routes   []*kindItems // of the kinds with routes that select the dataplane
}

// group contains a list of items for every outbound, which dataplanes share.
type group struct {
	id         uint64 // in the keys of confs
	everywhere []*item
	youngest   *memo
	common     *results.Effective // of an outbound without own items
}

// Confs returns the confs of a dataplane by the policies of one kind, or nil for a kind
// without `to`. Configs are the configs of the dataplane by all kinds; only their lists of
// policies are read, those of the kind and of the kinds of routes. The policies must be
// policies of the index.
//
// The first call for a kind resolves the references of all its policies and of all routes,
// unless an earlier version of the index did so. The cost of a later call is proportional to
// the pages of the lists.
func (x *Index) Confs(kind *resource.Kind, configs []*results.Config) *Confs {
	if kind.To == nil {
		return nil
	}
	c := &Confs{kindItems: x.itemsOf(kind), selected: x.noSlots()}
	for _, config := range configs {
		if config.Kind.Name != kind.Name {
			if kind.IsRoute() || !config.Kind.IsRoute() || config.Kind.To == nil {
				continue
			}
			c.routes = append(c.routes, x.itemsOf(config.Kind))
		}
		x.addSlots(c.selected, config.Matched)
	}
	c.group = c.groupOf(c.selected.among(c.everywhere))
	return c
}

// All returns the confs of outbounds of the dataplane, parallel to them.
func (c *Confs) All(outbounds []Outbound) []results.OutboundConfig {
	if c == nil {
		return nil
	}
	configs := make([]results.OutboundConfig, len(outbounds))
	for i := range outbounds {
		configs[i] = c.ConfigFor(&outbounds[i])
		configs[i].Index = i
	}
	return configs
}

// Everywhere returns the conf of the items for every outbound, which an outbound without items
// of its own has; nil if there are none.
func (c *Confs) Everywhere() *results.Effective {
	if c == nil {
		return nil
	}
	return c.group.common
}

// ConfigFor returns the conf of an outbound of the dataplane.
func (c *Confs) ConfigFor(o *Outbound) (config results.OutboundConfig) {
	if c == nil {
		return config
	}
	routes := c.routesOf(o)
	if len(c.selecting(o.Destination)) == 0 && len(routes) == 0 {
		config.Effective = c.group.common
		return config
	}
	var buffer [8]*item
	own := c.own(o, buffer[:0])
	config.Effective = c.merge(nil, own)
	config.Routes = slices.Grow(config.Routes, len(routes))
	for _, route := range routes {
		config.Routes = append(config.Routes, results.RouteConfig{Route: route, Effective: c.ofRoute(route, own, config.Effective)})
	}
	return config
}

// routesOf returns the routes that have a `to` item for an outbound, sorted by KRI.
func (c *Confs) routesOf(o *Outbound) (routes []*resource.Policy) {
	for _, k := range c.routes {
		for _, it := range k.selecting(o.Destination) {
			if it.selects(o) && c.selected.has(it.item) {
				routes = append(routes, it.Policy)
			}
		}
	}
	if len(routes) < 2 {
		return routes
	}
	slices.SortFunc(routes, func(a, b *resource.Policy) int {
		return cmp.Or(cmp.Compare(a.KRI(), b.KRI()), a.ID.Compare(b.ID))
	})
	return slices.Compact(routes) // a route may have two items for the outbound
}

// own appends the items that select the destination of an outbound, or its port.
func (c *Confs) own(o *Outbound, items []*item) []*item {
	for _, it := range c.selecting(o.Destination) {
		if it.selects(o) && c.selected.has(it.item) {
			items = append(items, it.item)
		}
	}
	return items
}

// ofRoute returns the conf of a route of an outbound, given the outbound's own items
// and its conf.
func (c *Confs) ofRoute(route *resource.Policy, own []*item, outbound *results.Effective) *results.Effective {
	referring := c.selected.among(c.referringTo(route))
	switch {
	case c.reading.Semantics.RoutesHaveOutboundItems():
		return c.merge(route, c.joined(own, referring))
	case len(referring) == 0:
		return outbound
	}
	return c.merge(route, referring)
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
// route is nil, for an outbound.
func (c *Confs) merge(route *resource.Policy, items []*item) *results.Effective {
	if route == nil && len(items) == 0 {
		return c.group.common
	}
	var buffer [64]byte
	key := binary.AppendUvarint(buffer[:0], c.group.id)
	at := c.group.youngest.youngest(items)
	if c.attached == 0 {
		route = nil // any route with these items has its conf
	}
	if route != nil {
		use := c.caches.routes.get(route, func() *memo { return &memo{id: c.caches.nextID()} })
		key = append(binary.AppendUvarint(key, use.id), 0)
		if use.id > at.id {
			at = use
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
		at.merged = map[string]*results.Effective{}
	}
	at.merged[string(key)] = effective
	return effective
}

// mergeItems merges items, which are in order, for a route or an outbound.
func (k *kindItems) mergeItems(route *resource.Policy, list []*item) *results.Effective {
	contributions := make([]results.Contribution, 0, len(list))
	for _, it := range list {
		if items.Contributes(k.reading.Semantics, it.Policy, route) {
			contributions = append(contributions, results.Contribution{Origin: it.Origin, Conf: it.Policy.To[it.Index].Conf})
		}
	}
	return k.caches.memo.Merge(k.kind.To, contributions)
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
