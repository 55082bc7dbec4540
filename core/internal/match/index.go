package match

import (
	"iter"

	"github.com/meshmatch/meshmatch/core/internal/enforce"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/index"
)

// Index contains the policies of one mesh, indexed by the facts that their
// top-level targetRefs require. It is immutable; [Index.Edit] makes the next
// version.
type Index struct {
	reading  semantics.Reading
	slots    *index.Interner[policyName]    // policies
	policies index.Vector[*resource.Policy] // by slot
	order    *index.Order                   // of slots: by kind, then by compare
	facts    *index.Interner[fact]          // the facts that some selector requires
	// zoneScopes are the facts of the space semantics.ZoneScope. A dataplane
	// without an origin has all of them.
	zoneScopes []index.Term
	selectors  *index.TermIndex // by slot, over points' facts
	routes     routeUses
	scopes     index.Vector[[]index.Term] // by slot: the facts that a policy attached to a route requires, sorted
	informing  index.Set                  // slots of the policies that only inform
	// In some placements, policies with the shadow label are enforced.
	enforcement *enforce.Hub
	override    index.Vector[override] // by slot
	overrides   int                    // policies with an override
}

// policyName identifies a policy within its mesh.
type policyName struct{ kind, namespace, name string }

func nameOf(id *resource.ID) policyName { return policyName{id.Kind, id.Namespace, id.Name} }

// Empty returns an index without policies.
func Empty(reading semantics.Reading) *Index {
	if reading.Order == nil {
		reading.Order = reading.Semantics.Order()
	}
	return &Index{
		reading:   reading,
		slots:     index.NewInterner[policyName](),
		order:     new(index.Order),
		facts:     index.NewInternerFunc(semantics.HashFact),
		selectors: new(index.TermIndex),
		routes:    routeUses{names: index.NewInterner[routeName]()},

		enforcement: enforce.Empty(),
	}
}

// Len returns the number of policies.
func (x *Index) Len() int { return x.order.Len() }

// HasInforming reports whether there are policies that only inform.
func (x *Index) HasInforming() bool { return x.informing.Len() > 0 }

// Semantics returns the way in which the index reads policies.
func (x *Index) Semantics() semantics.Semantics { return x.reading.Semantics }

// Reading returns the way in which the index reads policies, with its order.
func (x *Index) Reading() semantics.Reading { return x.reading }

// Slot returns a number that identifies a policy of the index. A policy keeps it in the
// versions that have the policy. It must be a policy of the index.
func (x *Index) Slot(p *resource.Policy) uint32 {
	slot, _ := x.slots.Lookup(nameOf(&p.ID))
	return slot
}

// Limit is greater than each slot of the index.
func (x *Index) Limit() uint32 { return x.slots.Limit() }

// Enforcement returns the placements and bindings of the index.
func (x *Index) Enforcement() *enforce.Hub { return x.enforcement }

// Policy returns the policy with the identity, or nil.
func (x *Index) Policy(id resource.ID) *resource.Policy {
	if slot, known := x.slots.Lookup(nameOf(&id)); known {
		return x.policies.Value(slot)
	}
	return nil
}

// All yields the policies by kind, and within a kind in order: later ones
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

// Since yields the policies that differ from an earlier version of the index:
// the earlier version of the policy, or nil, and the current one, or nil. The
// cost is proportional to the difference. A removed policy and another policy
// that was added may form one pair.
func (x *Index) Since(earlier *Index) iter.Seq2[*resource.Policy, *resource.Policy] {
	return func(yield func(then, now *resource.Policy) bool) {
		for slot := range x.policies.Unshared(&earlier.policies) {
			if then, now := earlier.policies.Value(slot), x.policies.Value(slot); then != now && !yield(then, now) {
				return
			}
		}
	}
}
