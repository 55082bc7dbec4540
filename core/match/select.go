package match

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/index"
)

// Selected is a policy that selects a dataplane, with the inbounds that it
// selects; those are none on a dataplane without inbounds.
type Selected struct {
	Policy   *resource.Policy
	Inbounds InboundSet
}

// Equal reports whether both are the same version of a policy and the same
// inbounds.
func (s *Selected) Equal(o *Selected) bool {
	return s.Policy == o.Policy && s.Inbounds.Equal(&o.Inbounds)
}

// Buffer is the memory of one caller's selections; the zero Buffer is ready.
type Buffer struct {
	terms    []index.Term
	matched  []uint32     // slots
	inbounds []InboundSet // by slot; empty between selections
	seen     []bool       // by slot; false between selections
	slots    []uint32
	scratch  index.Scratch
	selected []Selected
	// Candidates counts the selectors that were looked at, over all calls.
	Candidates int
}

// Scope is which policies take part.
type Scope uint8

// The scopes.
const (
	// Shadow is all policies, those that only inform too (SPEC 8.3).
	Shadow Scope = iota
	// Enforced is without those that only inform. A policy that is attached to
	// a route which only informs is without it.
	Enforced
)

// Select returns the policies of a scope that select a dataplane, sorted by
// kind, and for each kind in order: later ones override. The result lives in
// the buffer until the next call.
func (x *Index) Select(d *resource.Dataplane, scope Scope, b *Buffer) []Selected {
	x.begin(b)
	for point := range points(d) {
		x.collect(x.required(d, point, b), point, len(d.Inbounds) > 0, scope, b)
	}
	return x.finish(b)
}

// required returns those of a point's terms that some selector requires,
// sorted. They live in the buffer.
func (x *Index) required(d *resource.Dataplane, point int, b *Buffer) []index.Term {
	b.terms = b.terms[:0]
	add := func(t term) {
		if id, known := x.terms.Lookup(t); known {
			b.terms = append(b.terms, index.Term(id))
		}
	}
	yieldPointTerms(d, point, add)
	yieldProxyTerms(d, add)
	b.terms = index.SortTerms(b.terms)
	return b.terms
}

func (x *Index) begin(b *Buffer) {
	if n := int(x.slots.Limit()); len(b.seen) < n {
		b.seen = make([]bool, n)
		b.inbounds = make([]InboundSet, n)
	}
	b.slots = b.slots[:0]
}

// collect adds the policies that select a point with the given terms, sorted.
// The policies that are attached to a route follow it wherever it selects.
func (x *Index) collect(terms []index.Term, point int, isInbound bool, scope Scope, b *Buffer) {
	var candidates int
	b.matched, candidates = x.selectors.Match(terms, b.matched[:0])
	b.Candidates += candidates
	if scope == Enforced {
		b.matched = x.dropInforming(b.matched)
	}
	if x.routes.names.Len() > 0 {
		b.matched = x.appendAttached(b.matched)
		if scope == Enforced {
			b.matched = x.dropInforming(b.matched)
		}
	}
	for _, slot := range b.matched {
		if !b.seen[slot] {
			b.seen[slot] = true
			b.slots = append(b.slots, slot)
		}
		if isInbound {
			b.inbounds[slot].Add(point)
		}
	}
}

// dropInforming removes the policies that only inform.
func (x *Index) dropInforming(slots []uint32) []uint32 {
	if !x.HasInforming() {
		return slots
	}
	return slices.DeleteFunc(slots, x.informing.Contains)
}

// appendAttached appends the policies that are attached to the routes among
// those that matched. Some may come twice.
func (x *Index) appendAttached(matched []uint32) []uint32 {
	for _, slot := range matched[:len(matched):len(matched)] {
		route := x.policies.Value(slot)
		if !isRouteKind(route.Kind) {
			continue
		}
		for _, attached := range x.routes.of(routeName{route.Kind, route.Name}).attached {
			if ref := &x.policies.Value(attached).TargetRef; ref.Namespace == "" || ref.Namespace == route.Namespace {
				matched = append(matched, attached)
			}
		}
	}
	return matched
}

// finish sorts what was collected, and leaves the buffer clean.
func (x *Index) finish(b *Buffer) []Selected {
	x.order.Sort(b.slots, &b.scratch)
	b.selected = slices.Grow(b.selected[:0], len(b.slots))
	for _, slot := range b.slots {
		b.selected = append(b.selected, Selected{x.policies.Value(slot), b.inbounds[slot]})
		b.seen[slot], b.inbounds[slot] = false, InboundSet{}
	}
	return b.selected
}
