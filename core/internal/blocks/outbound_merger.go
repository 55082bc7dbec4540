package blocks

import (
	"github.com/meshmatch/meshmatch/core/internal/items"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// outboundMerger merges the `to` items of a class config for one outbound after
// another.
type outboundMerger struct {
	semantics semantics.Semantics
	section   *resource.Section
	matched   results.Matched
	to        *toItems // its effective items are known

	merged  []itemRef // by the last call of merge, highest priority first
	numbers []int     // of origins
	origins []results.Origin
}

// merge merges the items that apply to an outbound with the given tags (SPEC
// 4.2), or to a route of it: items that select the outbound, items that select
// the route, and items of policies that are attached to the route (SPEC 4.3). It
// returns nil if no item applies. The origins are valid until the next call.
//
// The items are in five ascending lists. So the item with the next lower
// priority is the largest of the lists' last items.
func (m *outboundMerger) merge(tags resource.Tags, route *resource.Policy) (conf resource.Conf, origins []results.Origin) {
	service := items.Named(resource.TargetMeshService, tags.Value(resource.ServiceTag))
	lists := [5][]itemRef{m.to.effective, m.to.filed(service), m.to.subsets}
	if route != nil {
		lists[3] = m.to.filed(items.RouteNamed(m.semantics.ReferenceName(&route.Meta)))
		lists[4] = m.to.filed(items.LabelledRoutes)
	}
	m.merged = m.merged[:0]
	last := len(lists[0]) + len(lists[1]) + len(lists[2]) + len(lists[3]) + len(lists[4])
	var merger resource.Merger
	for complete := false; !complete; {
		list := highest(&lists)
		if list == nil {
			break
		}
		n := len(*list) - 1
		ref := (*list)[n]
		*list = (*list)[:n]
		p, index, ok := m.to.resolve(ref, m.matched)
		if !ok || !items.Applies(m.semantics, p, &p.To[index].TargetRef, tags, route) {
			continue
		}
		if merger == nil {
			merger = m.section.Conf.NewMerger()
		}
		m.merged = append(m.merged, ref)
		complete = merger.Fill(p.To[index].Conf, last-len(m.merged))
	}
	if merger == nil {
		return nil, nil
	}
	m.numbers = merger.Origins(m.numbers[:0])
	m.origins = m.origins[:0]
	for _, number := range m.numbers {
		p, index, _ := m.to.resolve(m.merged[last-number-1], m.matched)
		m.origins = append(m.origins, results.Origin{Policy: p, Index: index})
	}
	return merger.Conf(), m.origins
}

// highest returns the list whose last item has the highest priority, or nil if
// all lists are empty.
func highest(lists *[5][]itemRef) (list *[]itemRef) {
	for i := range lists {
		if n := len(lists[i]); n > 0 && (list == nil || lists[i][n-1] > (*list)[len(*list)-1]) {
			list = &lists[i]
		}
	}
	return list
}

// contributions returns the contributions to the last conf, lowest priority
// first.
func (m *outboundMerger) contributions() []results.Contribution {
	all := make([]results.Contribution, len(m.merged))
	for i, ref := range m.merged {
		p, index, _ := m.to.resolve(ref, m.matched)
		all[len(all)-1-i] = contribution(p, index, p.To[index].Conf)
	}
	return all
}
