package match

import (
	"slices"
	"sync"

	"github.com/meshmatch/meshmatch/core/internal/enforce"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/index"
)

// Edit returns an editor that starts from x.
func (x *Index) Edit() *Editor {
	e := &Editor{
		base:      x,
		slots:     x.slots.Edit(),
		policies:  x.policies.Edit(),
		facts:     x.facts.Edit(),
		selectors: x.selectors.Edit(),
		routes:    routeUsesEditor{semantics: x.reading.Semantics, names: x.routes.names.Edit(), uses: x.routes.uses.Edit()},
		scopes:    x.scopes.Edit(),
		informing: x.informing.Edit(),

		enforcement: x.enforcement,
		override:    x.override.Edit(),
		overrides:   x.overrides,

		delta: Delta{replaced: map[*resource.Policy]*resource.Policy{}},
	}
	e.order = x.order.Edit(e.compare)
	return e
}

// compare compares the policies of two slots.
func (e *Editor) compare(a, b uint32) int {
	p, q := e.policies.Value(a), e.policies.Value(b)
	c := e.base.reading.Order.CompareKinds(p, q)
	if c == 0 {
		e.tied = [2]*resource.Policy{p, q}
	}
	return c
}

// Editor makes the next version of an [Index]. It is used once: call Enforce if
// placements or bindings changed, then Put and Remove, then Commit. An editor that is not
// committed, or whose Commit fails, has no effect.
type Editor struct {
	base      *Index
	slots     *index.InternerEditor[policyName]
	policies  index.VectorEditor[*resource.Policy]
	facts     *index.InternerEditor[fact]
	selectors *index.TermIndexEditor
	order     *index.OrderEditor
	routes    routeUsesEditor
	scopes    index.VectorEditor[[]index.Term]
	informing index.SetEditor

	enforcement *enforce.Hub
	override    index.VectorEditor[override]
	overrides   int

	added []fact // facts that the base version does not require
	// released are the facts of the selectors that were removed. Commit frees their ids,
	// so that no id has two meanings in one edit.
	released []fact
	delta    Delta
	// required and selector are scratch memory of internSelector.
	required []fact
	selector []index.Term
	tied     [2]*resource.Policy // the last two policies that compared equal
}

// PutAll calls Put for each policy; no two of them have the same identity. If two of the
// first policies of an index compare equal, the error is a [results.ErrNoOrder] that names
// them.
func (e *Editor) PutAll(policies []*resource.Policy) error {
	if e.slots.Limit() == 0 {
		return e.putFirst(policies)
	}
	e.order.Grow(len(policies))
	for _, p := range policies {
		e.Put(p)
	}
	return nil
}

// putFirst puts the first policies of an index. Their slots are given by their levels alone,
// so the selectors can be indexed while the policies are sorted and named, which takes
// about as long. Dataplanes have many policies of one level, and read them faster if they
// are neighbors.
func (e *Editor) putFirst(policies []*resource.Policy) error {
	policies = results.ByLevel(policies)
	e.delta.policies, e.delta.moved = true, true
	var indexing sync.WaitGroup
	defer indexing.Wait()
	indexing.Go(func() {
		for slot, p := range policies {
			e.indexSelector(uint32(slot), p)
		}
	})
	sorted, err := e.base.reading.Order.Sorted(policies)
	if err != nil {
		return err
	}
	e.order = index.NewOrder(sorted).Edit(e.compare)
	e.slots.Grow(len(policies))
	for _, p := range policies {
		slot, _ := e.slots.Add(nameOf(&p.ID))
		*e.policies.Mut(slot) = p
	}
	return nil
}

// Put adds p, or replaces the policy with its identity.
func (e *Editor) Put(p *resource.Policy) {
	e.delta.policies = true
	slot, added := e.slots.Add(nameOf(&p.ID))
	var old *resource.Policy
	if !added {
		old = e.policies.Value(slot)
		if e.onlyConfsDiffer(old, p) {
			*e.policies.Mut(slot) = p
			e.delta.selectors = append(e.delta.selectors, e.base.selectors.Terms(slot))
			e.delta.replaced[old] = p
			return
		}
		e.release(old, slot)
	}
	e.delta.moved = true
	*e.policies.Mut(slot) = p
	e.indexSelector(slot, p)
	if old == nil || e.base.reading.Order.CompareKinds(old, p) != 0 {
		e.order.Put(slot)
	}
}

// indexSelector indexes what a policy requires of the dataplanes that it selects.
func (e *Editor) indexSelector(slot uint32, p *resource.Policy) {
	e.routes.add(p, slot)
	if p.Shadow() {
		e.informing.Add(slot)
	} else {
		e.informing.Remove(slot)
	}
	e.setOverride(slot, p)
	if selector, attached := e.internSelector(p); !attached {
		e.selectors.Put(slot, selector)
		if e.base.Len() > 0 {
			e.delta.selectors = append(e.delta.selectors, index.SortTerms(slices.Clone(selector)))
		}
	} else {
		e.selectors.Remove(slot)
		*e.scopes.Mut(slot) = index.SortTerms(slices.Clone(selector))
	}
}

// internSelector returns the facts that a policy requires, valid until the next
// call.
func (e *Editor) internSelector(p *resource.Policy) (selector []index.Term, attached bool) {
	e.required, attached = e.base.reading.Semantics.AppendRequired(e.required[:0], p)
	e.selector = e.selector[:0]
	for _, t := range e.required {
		e.selector = append(e.selector, e.intern(t))
	}
	return e.selector, attached
}

// intern returns the id of a fact that a selector or an override requires.
func (e *Editor) intern(t fact) index.Term {
	n := e.facts.Len()
	id := e.facts.Intern(t)
	if e.facts.Len() > n {
		e.added = append(e.added, t)
	}
	return index.Term(id)
}

// onlyConfsDiffer reports whether a policy of the base version and its new
// version differ in their confs alone. If so, both have the same place in the
// index. It returns false for routes and policies that are attached to routes.
func (e *Editor) onlyConfsDiffer(old, p *resource.Policy) bool {
	return e.base.Policy(p.ID) == old && !p.IsRoute() && !old.TargetRef.Kind.IsRoute() &&
		old.TargetRef.Equal(&p.TargetRef) && e.sameRequired(old, p) && old.Shadow() == p.Shadow() &&
		e.base.reading.Order.CompareKinds(old, p) == 0
}

// sameRequired reports whether two versions of a policy require the same facts.
func (e *Editor) sameRequired(old, p *resource.Policy) bool {
	e.required, _ = e.base.reading.Semantics.AppendRequired(e.required[:0], old)
	n := len(e.required)
	e.required, _ = e.base.reading.Semantics.AppendRequired(e.required, p)
	return slices.Equal(e.required[:n], e.required[n:])
}

// Remove removes a policy and reports whether it was present.
func (e *Editor) Remove(id resource.ID) bool {
	slot, known := e.slots.Lookup(nameOf(&id))
	if !known {
		return false
	}
	e.delta.moved, e.delta.policies = true, true
	e.release(e.policies.Value(slot), slot)
	*e.policies.Mut(slot) = nil
	e.selectors.Remove(slot)
	e.order.Remove(slot)
	e.informing.Remove(slot)
	e.setOverride(slot, nil)
	e.slots.Release(slot)
	return true
}

// release records what the replacement or removal of a policy reaches, and the
// policy's facts.
func (e *Editor) release(old *resource.Policy, slot uint32) {
	e.routes.remove(old, slot)
	required, attached := e.base.reading.Semantics.AppendRequired(nil, old)
	selector := make([]index.Term, len(required))
	for i, t := range required {
		id, _ := e.facts.Lookup(t)
		selector[i] = index.Term(id)
	}
	e.released = append(e.released, required...)
	if attached {
		*e.scopes.Mut(slot) = nil
	} else {
		e.delta.selectors = append(e.delta.selectors, index.SortTerms(selector))
	}
}

// Commit returns the next version and what the edit reaches. If two policies
// compare equal, the error is a [results.ErrNoOrder] that names them.
func (e *Editor) Commit() (*Index, *Delta, error) {
	order, err := e.order.Commit()
	if err != nil {
		return nil, nil, results.NoOrder(e.tied[0], e.tied[1])
	}
	next := &Index{reading: e.base.reading, order: order}
	e.releaseFacts()
	next.zoneScopes = e.zoneScopes()
	next.slots, next.policies = e.slots.Commit(), e.policies.Commit()
	next.facts, next.selectors = e.facts.Commit(), e.selectors.Commit()
	next.routes = routeUses{names: e.routes.names.Commit(), uses: e.routes.uses.Commit()}
	next.scopes, next.informing = e.scopes.Commit(), e.informing.Commit()
	next.enforcement, next.override, next.overrides = e.enforcement, e.override.Commit(), e.overrides
	e.reach(next)
	return next, &e.delta, nil
}

// zoneScopes returns the facts of the space semantics.ZoneScope after the edit.
func (e *Editor) zoneScopes() []index.Term {
	scopes := e.base.zoneScopes
	copied := false
	for _, t := range e.delta.facts {
		if t.Space != semantics.ZoneScope {
			continue
		}
		if !copied {
			scopes, copied = slices.Clone(scopes), true
		}
		if before, known := e.base.facts.Lookup(t); known {
			scopes = slices.DeleteFunc(scopes, func(s index.Term) bool { return s == index.Term(before) })
		}
		if id, required := e.facts.Lookup(t); required {
			scopes = append(scopes, index.Term(id))
		}
	}
	return scopes
}

// reach completes the selectors of the delta. If the base version is empty, it
// replaces them by the empty selector, which every dataplane matches. Otherwise it
// adds the selectors of the routes to which policies are attached in either
// version, and removes duplicates: a thousand policies with the same selector
// reach the same classes.
func (e *Editor) reach(next *Index) {
	if e.base.Len() == 0 {
		e.delta.selectors = [][]index.Term{{}}
		return
	}
	slices.SortFunc(e.routes.touched, routeName.compare)
	for _, name := range slices.Compact(e.routes.touched) {
		for _, x := range []*Index{e.base, next} {
			for _, slot := range x.routes.useOf(name).routes {
				e.delta.selectors = append(e.delta.selectors, x.selectors.Terms(slot))
			}
		}
	}
	slices.SortFunc(e.delta.selectors, slices.Compare)
	e.delta.selectors = slices.CompactFunc(e.delta.selectors, slices.Equal)
}

// releaseFacts frees the released facts and finds those that are required in only one
// version.
func (e *Editor) releaseFacts() {
	for _, t := range e.released {
		if id, _ := e.facts.Lookup(t); e.facts.Release(id) {
			e.delta.facts = append(e.delta.facts, t)
		}
	}
	e.delta.facts = append(e.delta.facts, e.added...)
	slices.SortFunc(e.delta.facts, fact.Compare)
	e.delta.facts = slices.Compact(e.delta.facts)
	for _, t := range e.delta.facts {
		if t.Space == placement {
			e.delta.regions = append(e.delta.regions, e.regionsOf(t)...)
		}
	}
}
