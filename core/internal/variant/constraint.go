package variant

import (
	"errors"
	"fmt"

	"github.com/meshmatch/meshmatch/core/internal/partition"
	"github.com/meshmatch/meshmatch/core/internal/variant/constraint"
)

// The limits on one constraint (SPEC 9.1). They are checked while a constraint is read,
// before anything is computed from it.
const (
	MaxLevels = constraint.MaxLevels
	MaxNodes  = constraint.MaxNodes
)

// ErrConstraint indicates that a constraint violates a rule of SPEC 9.1.
var ErrConstraint = errors.New("invalid constraint")

// Parameters are the dynamic parameters of a client. A key that is not in the
// map is absent.
type Parameters = map[string]string

// A Constraint selects parameters (SPEC 9.1). It is immutable. The zero
// Constraint accepts all parameters.
type Constraint struct {
	predicate partition.Predicate
	invalid   bool // read from a document that has errors
}

// Accepts reports whether the constraint accepts the parameters. It ignores keys that
// the constraint does not name. It does not allocate.
func (c Constraint) Accepts(p Parameters) bool { return c.predicate.Accepts(p) }

// Keys returns the keys that the constraint names, sorted. Some of them may make no
// difference.
func (c Constraint) Keys() []string { return c.predicate.Keys() }

// Canonical returns the canonical form of the constraint: one form for all
// constraints that accept the same parameters (SPEC 9.2). The only error is a
// [*partition.LimitError].
func (c Constraint) Canonical() (Constraint, error) {
	set, err := partition.Canonicalize(c.predicate, limits)
	if err != nil {
		return Constraint{}, err
	}
	return canonical(set, nil)
}

// SameVariant reports whether two constraints accept the same parameters and
// therefore identify the same variant (SPEC 9.2). The only error is a
// [*partition.LimitError].
func SameVariant(a, b Constraint) (bool, error) {
	return partition.Equivalent(a.predicate, b.predicate, limits)
}

// limits bound the work of one operation on constraints: two million steps, which take
// less than half a second and 60 MB for the shapes of TestHostileConstraints.
var limits = partition.Limits{Rules: MaxNodes, Work: 1 << 21}

// canonical returns the canonical form of a set as a constraint that names each of the
// keys. A key that makes no difference is named as "exists or does not exist" (SPEC
// 9.3).
func canonical(set partition.Clients, keys []string) (Constraint, error) {
	form := set.Predicate()
	var more []partition.Predicate
	own := set.Dependencies()
	for _, key := range keys {
		if len(own) > 0 && own[0].Key == key {
			own = own[1:]
			continue
		}
		present := partition.Present(key)
		more = append(more, partition.Or(present, partition.Not(present)))
	}
	switch {
	case len(more) == 0:
	case form.Op() == partition.OpAnd && len(more)+len(form.Members()) == 1:
		form = more[0]
	case form.Op() == partition.OpAnd:
		form = partition.And(append(form.Members(), more...)...)
	default:
		form = partition.And(append([]partition.Predicate{form}, more...)...)
	}
	if nodes := form.Nodes(); nodes > MaxNodes {
		return Constraint{}, fmt.Errorf("%w: its canonical form has %d nodes; the limit is %d", ErrConstraint, nodes, MaxNodes)
	}
	return Constraint{predicate: form}, nil
}

// predicatesOf returns the predicates of constraints.
func predicatesOf(constraints []Constraint) []partition.Predicate {
	predicates := make([]partition.Predicate, len(constraints))
	for i, c := range constraints {
		predicates[i] = c.predicate
	}
	return predicates
}
