package match

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/enforce"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/index"
)

// Buffer is the memory of one caller's selections. The zero Buffer is ready to use.
// Two goroutines must not use it at the same time.
type Buffer struct {
	terms      []index.Term
	point      []index.Term         // of a class, and the placements of a dataplane
	matched    []uint32             // slots
	found      []uint32             // by slot: its place in slots as they are collected, plus one; zero between selections
	inbounds   []results.InboundSet // by this place
	placements []enforce.Placement  // of a dataplane
	slots      []uint32             // of the selected policies
	scratch    index.Scratch
	selected   []results.Selected
	// Candidates is the number of selectors that were compared, over all calls.
	Candidates int
}

// Select returns the policies of a scope that select a dataplane, sorted by
// kind, and within a kind in order: later ones override. A policy that is attached to
// a route with the shadow label is not enforced unless the route is. The result is
// valid until the next use of the buffer.
func (x *Index) Select(d *resource.Dataplane, scope results.Scope, b *Buffer) []results.Selected {
	x.begin(b)
	shared := d.SharedListeners()
	for point := range x.reading.Semantics.Points(d) {
		x.collect(x.required(d, point, b), scope, b)
		if x.reading.Semantics.NamedPoints(d) > 0 {
			b.addPoint(point, shared)
		}
	}
	return x.finish(b)
}

// required returns the facts of a point that some selector requires, sorted. It
// is valid until the next use of the buffer.
func (x *Index) required(d *resource.Dataplane, point int, b *Buffer) []index.Term {
	b.terms = b.terms[:0]
	add := func(t fact) {
		if t.Space == semantics.ZoneScope && t.Value == semantics.AnyZone {
			b.terms = append(b.terms, x.zoneScopes...)
		} else if id, known := x.facts.Lookup(t); known {
			b.terms = append(b.terms, index.Term(id))
		}
	}
	x.reading.Semantics.PointFacts(d, point, add)
	x.reading.Semantics.ProxyFacts(d, add)
	x.appendPlacements(d, b)
	b.terms = index.SortTerms(b.terms)
	return b.terms
}

func (x *Index) begin(b *Buffer) {
	if n := int(x.slots.Limit()); len(b.found) < n {
		b.found = make([]uint32, n)
	}
	b.slots, b.inbounds = b.slots[:0], b.inbounds[:0]
}

// collect adds the policies that select a point with the given sorted facts.
// Policies that are attached to a route are added with the route. A named point is then added
// to what each of them selects, with addPoint.
func (x *Index) collect(terms []index.Term, scope results.Scope, b *Buffer) {
	var candidates int
	b.matched, candidates = x.selectors.Match(terms, b.matched[:0])
	b.Candidates += candidates
	if scope == results.Enforced {
		b.matched = x.dropInforming(b.matched, terms)
	}
	if x.routes.names.Len() > 0 {
		b.matched = x.appendAttached(b.matched, terms)
		if scope == results.Enforced {
			b.matched = x.dropInforming(b.matched, terms)
		}
	}
	for _, slot := range b.matched {
		if b.found[slot] == 0 {
			b.slots, b.inbounds = append(b.slots, slot), append(b.inbounds, results.InboundSet{})
			b.found[slot] = uint32(len(b.slots))
		}
	}
}

// addPoint adds a named point to what the policies of the last collect select. An inbound that
// shares its listener has the policies of all inbounds of it (SPEC 1.3).
func (b *Buffer) addPoint(point int, shared []int) {
	for _, slot := range b.matched {
		inbounds := &b.inbounds[b.found[slot]-1]
		inbounds.Add(point)
		for i, listener := range shared {
			if point < len(shared) && listener == shared[point] {
				inbounds.Add(i)
			}
		}
	}
}

// dropInforming removes the policies that only inform at a point with the given
// sorted facts.
func (x *Index) dropInforming(slots []uint32, terms []index.Term) []uint32 {
	if !x.HasInforming() {
		return slots
	}
	return slices.DeleteFunc(slots, func(slot uint32) bool {
		return x.informing.Contains(slot) && !x.overridden(slot, terms)
	})
}

// appendAttached appends the policies that are attached to the matched routes and require
// only the given facts, which are sorted. It may append a policy twice.
func (x *Index) appendAttached(matched []uint32, terms []index.Term) []uint32 {
	for _, slot := range matched[:len(matched):len(matched)] {
		route := x.policies.Value(slot)
		if !route.IsRoute() {
			continue
		}
		for _, attached := range x.routes.useOf(routeName{route.Kind, x.reading.Semantics.ReferenceName(&route.Meta)}).attached {
			if p := x.policies.Value(attached); x.reading.Semantics.RefersToRoute(p, &p.TargetRef, route) && containsTerms(terms, x.scopes.Value(attached)) {
				matched = append(matched, attached)
			}
		}
	}
	return matched
}

// finish sorts the collected policies and empties the buffer for the next
// selection.
func (x *Index) finish(b *Buffer) []results.Selected {
	x.order.Sort(b.slots, &b.scratch)
	b.selected = slices.Grow(b.selected[:0], len(b.slots))
	for _, slot := range b.slots {
		b.selected = append(b.selected, results.Selected{Policy: x.policies.Value(slot), Inbounds: b.inbounds[b.found[slot]-1]})
		b.found[slot] = 0
	}
	return b.selected
}
