package match

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/enforce"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/index"
)

// override contains the placements in which a policy with the shadow label is
// enforced (SPEC 8.3). A dataplane has a fact for each placement that contains it.
// So an override is a condition on facts, like a selector, and dataplanes in the
// same placements share a class. It is immutable; most policies have none.
type override struct {
	placements []enforce.Placement // sorted
	terms      []index.Term        // of the placements, sorted
}

func placementFact(p enforce.Placement) fact {
	return fact{Space: placement, Key: p.KindNamespace, Value: p.Name}
}

// overridden reports whether a policy with the shadow label is enforced at a point
// with the given sorted facts.
func (x *Index) overridden(slot uint32, terms []index.Term) bool {
	if x.overrides == 0 {
		return false
	}
	for _, t := range x.override.Value(slot).terms {
		if _, has := slices.BinarySearch(terms, t); has {
			return true
		}
	}
	return false
}

// appendPlacements appends the facts of the placements that contain a dataplane and
// are part of an override.
func (x *Index) appendPlacements(d *resource.Dataplane, b *Buffer) {
	if x.overrides == 0 {
		return
	}
	b.placements = x.enforcement.AppendPlacements(b.placements[:0], d)
	for _, p := range b.placements {
		if id, required := x.facts.Lookup(placementFact(p)); required {
			b.terms = append(b.terms, index.Term(id))
		}
	}
}

// placementFacts returns the facts of the placements that contain a dataplane and
// are part of an override, sorted. It is valid until the next use of the buffer.
func (x *Index) placementFacts(d *resource.Dataplane, b *Buffer) []index.Term {
	b.terms = b.terms[:0]
	x.appendPlacements(d, b)
	b.terms = index.SortTerms(b.terms)
	return b.terms
}

// Concerns reports whether a change of placements and bindings can change a result
// for the given mesh.
func (x *Index) Concerns(mesh string, delta *enforce.Delta) bool {
	for _, m := range delta.Moved {
		if _, required := x.facts.Lookup(placementFact(m.Placement)); required {
			return true
		}
	}
	for id := range delta.Policies(mesh) {
		if p := x.Policy(id); p != nil && p.Shadow() {
			return true
		}
	}
	return false
}

// Enforce sets the placements and bindings. It must be called before any other
// change of the edit. delta is their change, or nil if the change does not concern
// the index ([Index.Concerns]).
func (e *Editor) Enforce(s *enforce.Hub, mesh string, delta *enforce.Delta) {
	e.enforcement = s
	if delta == nil {
		return
	}
	for id := range delta.Policies(mesh) {
		slot, known := e.slots.Lookup(nameOf(&id))
		if !known {
			continue
		}
		p, old := e.policies.Value(slot), e.override.Value(slot)
		if e.setOverride(slot, p) {
			e.reachOverride(p, old, e.override.Value(slot))
		}
	}
	for _, m := range delta.Moved {
		if _, required := e.facts.Lookup(placementFact(m.Placement)); required {
			e.delta.regions = append(e.delta.regions, m.Regions...)
			e.delta.moved = true
		}
	}
}

// setOverride sets the override of a policy and reports whether it changed. Only a
// policy with the shadow label has one. p is nil if the policy is removed.
func (e *Editor) setOverride(slot uint32, p *resource.Policy) (changed bool) {
	old, next := e.override.Value(slot), override{}
	if p != nil && p.Shadow() {
		next.placements = e.enforcement.Overrides(&p.ID)
	}
	if slices.Equal(old.placements, next.placements) {
		return false
	}
	for _, placement := range next.placements {
		t := placementFact(placement)
		next.terms = append(next.terms, e.intern(t))
	}
	next.terms = index.SortTerms(next.terms)
	for _, placement := range old.placements {
		e.released = append(e.released, placementFact(placement))
	}
	*e.override.Mut(slot) = next
	e.overrides += min(1, len(next.placements)) - min(1, len(old.placements))
	e.delta.moved = true
	return true
}

// reachOverride adds the selectors of the classes that a changed override affects: the
// policy selects them, and they are in a placement of only one of the two overrides.
func (e *Editor) reachOverride(p *resource.Policy, old, next override) {
	if p.TargetRef.Kind.IsRoute() {
		e.routes.touched = append(e.routes.touched, routeName{p.TargetRef.Kind.String(), p.TargetRef.Name})
		return
	}
	required, _ := e.base.reading.Semantics.AppendRequired(nil, p)
	for _, t := range append(slices.Clone(old.terms), next.terms...) {
		if slices.Contains(old.terms, t) && slices.Contains(next.terms, t) {
			continue
		}
		selector := []index.Term{t}
		for _, r := range required {
			id, _ := e.facts.Lookup(r)
			selector = append(selector, index.Term(id))
		}
		e.delta.selectors = append(e.delta.selectors, index.SortTerms(selector))
	}
}

// regionsOf returns the regions of a placement before and after the edit.
func (e *Editor) regionsOf(t fact) []enforce.Region {
	p := enforce.Placement{KindNamespace: t.Key, Name: t.Value}
	regions := e.enforcement.Regions(p)
	if before := e.base.enforcement; before != e.enforcement {
		regions = append(regions, before.Regions(p)...)
	}
	return regions
}
