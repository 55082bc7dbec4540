package match

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/index"
)

// Index is the policies of one mesh, filed by what their top-level targetRefs
// require. It is immutable.
type Index struct {
	policies  []*resource.Policy    // by slot
	owners    []uint32              // selector to policy slot
	terms     *index.Interner[term] // only those that some selector requires
	selectors *index.TermIndex      // over points' terms
	order     *index.Order          // of slots: by kind, then by the kind's order
}

// NewIndex files the policies of one mesh, given in any order. A nil order
// means [DefaultOrder]. It returns an error where the order is not strict and
// total over the policies, as with two of one identity.
func NewIndex(policies []*resource.Policy, order Order) (*Index, error) {
	if order == nil {
		order = DefaultOrder
	}
	x := &Index{policies: policies}
	terms := index.NewInterner[term]().Edit()
	selectors := new(index.TermIndex).Edit()
	routes := routesByName(policies)
	for slot, p := range policies {
		for _, target := range targets(p, routes) {
			required, ok := selectorTerms(target)
			if !ok {
				continue
			}
			ids := make([]index.Term, len(required))
			for i, t := range required {
				ids[i] = index.Term(terms.Intern(t))
			}
			selectors.Put(uint32(len(x.owners)), ids)
			x.owners = append(x.owners, uint32(slot))
		}
	}
	x.terms, x.selectors = terms.Commit(), selectors.Commit()
	slots := make([]uint32, len(policies))
	for i := range slots {
		slots[i] = uint32(i)
	}
	var err error
	x.order, err = index.NewOrder(slots, func(a, b uint32) int {
		return cmp.Or(strings.Compare(policies[a].Kind, policies[b].Kind), order(policies[a], policies[b]))
	})
	if err != nil {
		return nil, fmt.Errorf("the policies have no strict total order: %w", err)
	}
	return x, nil
}

type routeName struct{ kind, name string }

func routesByName(policies []*resource.Policy) map[routeName][]*resource.Policy {
	routes := map[routeName][]*resource.Policy{}
	for _, p := range policies {
		name := routeName{p.Kind, p.Name}
		routes[name] = append(routes[name], p)
	}
	return routes
}

// targets returns the targetRefs that say which dataplanes a policy selects:
// its own, or those of the routes that it is attached to.
func targets(p *resource.Policy, routes map[routeName][]*resource.Policy) []*resource.TargetRef {
	ref := &p.TargetRef
	if !ref.Kind.IsRoute() {
		return []*resource.TargetRef{ref}
	}
	var out []*resource.TargetRef
	for _, route := range routes[routeName{ref.Kind.String(), ref.Name}] {
		if ref.Namespace == "" || ref.Namespace == route.Namespace {
			out = append(out, &route.TargetRef)
		}
	}
	return out
}

// Policies returns all policies, by slot. The slice must not be changed.
func (x *Index) Policies() []*resource.Policy { return x.policies }

// Buffer is the memory of one caller's selections; the zero Buffer is ready.
type Buffer struct {
	terms    []index.Term
	matched  []uint32     // selectors
	inbounds []InboundSet // by slot; empty between selections
	seen     []bool       // by slot; false between selections
	slots    []uint32
	scratch  index.Scratch
	selected []Selected
	// Candidates counts the selectors that were looked at, over all calls.
	Candidates int
}

// Select returns the policies that select a dataplane, sorted by kind, and
// for each kind in order: later ones override. The result lives in the buffer
// until the next call.
func (x *Index) Select(d *resource.Dataplane, b *Buffer) []Selected {
	if len(b.seen) < len(x.policies) {
		b.seen = make([]bool, len(x.policies))
		b.inbounds = make([]InboundSet, len(x.policies))
	}
	b.slots = b.slots[:0]
	for point := range points(d) {
		x.collect(d, point, b)
	}
	x.order.Sort(b.slots, &b.scratch)
	b.selected = b.selected[:0]
	for _, slot := range b.slots {
		b.selected = append(b.selected, Selected{x.policies[slot], b.inbounds[slot]})
		b.seen[slot], b.inbounds[slot] = false, InboundSet{}
	}
	return b.selected
}

// collect adds the policies that select one point.
func (x *Index) collect(d *resource.Dataplane, point int, b *Buffer) {
	b.terms = b.terms[:0]
	yieldTerms(d, point, func(t term) {
		if id, known := x.terms.Lookup(t); known {
			b.terms = append(b.terms, index.Term(id))
		}
	})
	b.terms = index.SortTerms(b.terms)
	var candidates int
	b.matched, candidates = x.selectors.Match(b.terms, b.matched[:0])
	b.Candidates += candidates
	for _, selector := range b.matched {
		slot := x.owners[selector]
		if !b.seen[slot] {
			b.seen[slot] = true
			b.slots = append(b.slots, slot)
		}
		if len(d.Inbounds) > 0 {
			b.inbounds[slot].Add(point)
		}
	}
}
