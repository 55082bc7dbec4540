package match

import (
	"errors"
	"fmt"
	"iter"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/index"
)

// ErrNoOrder indicates that an [Order] found two different policies equal.
var ErrNoOrder = errors.New("the policies have no strict total order")

// Index is the policies of one mesh, filed by what their top-level targetRefs
// require. It is immutable; [Index.Edit] makes the next version.
type Index struct {
	compare   Order
	slots     *index.Interner[resource.ID]   // policies, by identity
	policies  index.Vector[*resource.Policy] // by slot
	order     *index.Order                   // of slots: by kind, then by the kind's order
	terms     *index.Interner[term]          // only those that some selector requires
	selectors *index.TermIndex               // by slot, over points' terms
	routes    routeUses
	informing index.Set // slots of the policies that only inform
}

// Empty returns an index without policies. A nil order means [DefaultOrder].
func Empty(order Order) *Index {
	if order == nil {
		order = DefaultOrder
	}
	return &Index{
		compare:   order,
		slots:     index.NewInterner[resource.ID](),
		order:     new(index.Order),
		terms:     index.NewInterner[term](),
		selectors: new(index.TermIndex),
		routes:    routeUses{names: index.NewInterner[routeName]()},
	}
}

// NewIndex files the policies of one mesh, given in any order. A nil order
// means [DefaultOrder]. It returns [ErrNoOrder] where the order is not strict
// and total over the policies, and an error where two have one identity.
func NewIndex(policies []*resource.Policy, order Order) (*Index, error) {
	e := Empty(order).Edit()
	for _, p := range policies {
		if e.Policy(p.ID) != nil {
			return nil, fmt.Errorf("two policies are %s", describe(p.ID))
		}
		e.Put(p)
	}
	x, _, err := e.Commit()
	return x, err
}

// Len returns the number of policies.
func (x *Index) Len() int { return x.order.Len() }

// HasInforming reports whether there are policies that only inform.
func (x *Index) HasInforming() bool { return x.informing.Len() > 0 }

// Policy returns the policy of that identity, or nil.
func (x *Index) Policy(id resource.ID) *resource.Policy {
	if slot, known := x.slots.Lookup(id); known {
		return x.policies.Value(slot)
	}
	return nil
}

// All yields the policies by kind, and for each kind in order: later ones
// override.
func (x *Index) All() iter.Seq[*resource.Policy] {
	return func(yield func(*resource.Policy) bool) {
		for rank := range uint32(x.order.Len()) {
			if !yield(x.policies.Value(x.order.At(rank))) {
				return
			}
		}
	}
}

func describe(id resource.ID) string {
	if id.Namespace == "" {
		return fmt.Sprintf("%s %q", id.Kind, id.Name)
	}
	return fmt.Sprintf("%s %q of namespace %q", id.Kind, id.Name, id.Namespace)
}

// Since yields what is another version of a policy in x than in an earlier
// version of the index: the policy then, or nil, and the policy now, or nil.
// The cost is what differs. A policy that left and another that came may be
// one pair.
func (x *Index) Since(earlier *Index) iter.Seq2[*resource.Policy, *resource.Policy] {
	return func(yield func(then, now *resource.Policy) bool) {
		for slot := range x.policies.Unshared(&earlier.policies) {
			if then, now := earlier.policies.Value(slot), x.policies.Value(slot); then != now && !yield(then, now) {
				return
			}
		}
	}
}
