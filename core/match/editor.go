package match

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/index"
)

// Edit returns an editor that starts from x.
func (x *Index) Edit() *Editor {
	e := &Editor{
		base:      x,
		slots:     x.slots.Edit(),
		policies:  x.policies.Edit(),
		terms:     x.terms.Edit(),
		selectors: x.selectors.Edit(),
		routes:    x.routes.edit(),
		informing: x.informing.Edit(),
		delta:     Delta{replaced: map[*resource.Policy]*resource.Policy{}},
	}
	e.order = x.order.Edit(func(a, b uint32) int {
		p, q := e.policies.Value(a), e.policies.Value(b)
		c := compare(x.compare, p, q)
		if c == 0 {
			e.tied = [2]*resource.Policy{p, q}
		}
		return c
	})
	return e
}

func compare(order Order, a, b *resource.Policy) int {
	return cmp.Or(strings.Compare(a.Kind, b.Kind), order(a, b))
}

// Editor makes the next version of an [Index], once. One that is dropped, or
// whose Commit fails, leaves no trace.
type Editor struct {
	base      *Index
	slots     *index.InternerEditor[resource.ID]
	policies  index.VectorEditor[*resource.Policy]
	terms     *index.InternerEditor[term]
	selectors *index.TermIndexEditor
	order     *index.OrderEditor
	routes    routeUsesEditor
	informing index.SetEditor

	interned []term // by selectors of this edit
	// released terms are given back at the end, so that no id has two meanings
	// in one edit.
	released []term
	delta    Delta
	tied     [2]*resource.Policy // that were compared last and found equal
}

// Policy returns the policy of that identity, or nil.
func (e *Editor) Policy(id resource.ID) *resource.Policy {
	if slot, known := e.slots.Lookup(id); known {
		return e.policies.Value(slot)
	}
	return nil
}

// Put files p in place of the policy of its identity, if there is one.
func (e *Editor) Put(p *resource.Policy) {
	slot, known := e.slots.Lookup(p.ID)
	var old *resource.Policy
	if known {
		old = e.policies.Value(slot)
		if e.filedAlike(old, p) {
			*e.policies.Mut(slot) = p
			e.delta.selectors = append(e.delta.selectors, e.base.selectors.Terms(slot))
			e.delta.replaced[old] = p
			return
		}
		e.unfile(old, slot)
	} else {
		slot = e.slots.Intern(p.ID)
	}
	e.delta.moved = true
	*e.policies.Mut(slot) = p
	e.routes.add(p, slot)
	if p.Shadow() {
		e.informing.Add(slot)
	} else {
		e.informing.Remove(slot)
	}
	if required, ok := selectorTerms(&p.TargetRef); ok {
		selector := make([]index.Term, len(required))
		for i, t := range required {
			selector[i] = index.Term(e.terms.Intern(t))
		}
		e.interned = append(e.interned, required...)
		e.selectors.Put(slot, selector)
		e.delta.selectors = append(e.delta.selectors, index.SortTerms(selector))
	} else {
		e.selectors.Remove(slot)
	}
	if old == nil || compare(e.base.compare, old, p) != 0 {
		e.order.Put(slot)
	}
}

// filedAlike reports whether a policy of this edit's base and its new version
// differ in their confs alone, as far as this index sees. What has to do with
// routes is left to the usual way.
func (e *Editor) filedAlike(old, p *resource.Policy) bool {
	return e.base.Policy(p.ID) == old && !isRouteKind(p.Kind) && !old.TargetRef.Kind.IsRoute() &&
		reflect.DeepEqual(&old.TargetRef, &p.TargetRef) && old.Shadow() == p.Shadow() &&
		compare(e.base.compare, old, p) == 0
}

// Remove removes a policy and tells whether there was one.
func (e *Editor) Remove(id resource.ID) bool {
	slot, known := e.slots.Lookup(id)
	if !known {
		return false
	}
	e.delta.moved = true
	e.unfile(e.policies.Value(slot), slot)
	*e.policies.Mut(slot) = nil
	e.selectors.Remove(slot)
	e.order.Remove(slot)
	e.informing.Remove(slot)
	e.slots.Release(slot)
	return true
}

// unfile notes what a policy reaches that is about to be replaced or removed,
// and its terms for release.
func (e *Editor) unfile(old *resource.Policy, slot uint32) {
	e.routes.remove(old, slot)
	required, ok := selectorTerms(&old.TargetRef)
	if !ok {
		return
	}
	selector := make([]index.Term, len(required))
	for i, t := range required {
		id, _ := e.terms.Lookup(t)
		selector[i] = index.Term(id)
	}
	e.released = append(e.released, required...)
	e.delta.selectors = append(e.delta.selectors, index.SortTerms(selector))
}

// Commit returns the next version, and what the edit reaches. The error tells
// which policies have no strict order.
func (e *Editor) Commit() (*Index, *Delta, error) {
	order, err := e.order.Commit()
	if err != nil {
		return nil, nil, fmt.Errorf("%w: neither of %s and %s overrides the other", ErrNoOrder, describe(e.tied[0].ID), describe(e.tied[1].ID))
	}
	next := &Index{compare: e.base.compare, order: order}
	e.release()
	next.slots, next.policies = e.slots.Commit(), e.policies.Commit()
	next.terms, next.selectors = e.terms.Commit(), e.selectors.Commit()
	next.routes, next.informing = e.routes.commit(), e.informing.Commit()
	e.reach(next)
	return next, &e.delta, nil
}

// reach adds the selectors of the routes to which policies were attached, or
// are now, and leaves each selector once: of a thousand policies that require
// the same, one finds whom they reach.
func (e *Editor) reach(next *Index) {
	slices.SortFunc(e.routes.touched, routeName.compare)
	for _, name := range slices.Compact(e.routes.touched) {
		for _, x := range []*Index{e.base, next} {
			for _, slot := range x.routes.of(name).routes {
				e.delta.selectors = append(e.delta.selectors, x.selectors.Terms(slot))
			}
		}
	}
	slices.SortFunc(e.delta.selectors, slices.Compare)
	e.delta.selectors = slices.CompactFunc(e.delta.selectors, slices.Equal)
}

// release gives terms back and finds those whose being required changed.
func (e *Editor) release() {
	for _, t := range e.released {
		if id, _ := e.terms.Lookup(t); e.terms.Release(id) {
			e.delta.terms = append(e.delta.terms, t)
		}
	}
	for _, t := range e.interned {
		if _, before := e.base.terms.Lookup(t); !before {
			e.delta.terms = append(e.delta.terms, t)
		}
	}
	slices.SortFunc(e.delta.terms, term.compare)
	e.delta.terms = slices.Compact(e.delta.terms)
}
