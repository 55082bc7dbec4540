package variant

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/partition"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
)

// A Compilation contains the inputs for the variants of one destination: the policies
// and routes of one view that concern it. It is immutable and safe for concurrent use.
type Compilation struct {
	kind        *resource.Kind
	semantics   semantics.Semantics
	destination Destination
	policies    []*resource.Policy // lowest priority first
	routes      []*resource.Policy // by KRI
	predicates  map[*resource.Policy]partition.Predicate
}

// Compile returns the variants. More variants than most are an error. It returns the
// same errors as [PolicyCompiler.Variants].
func (c *Compilation) Compile(most int) (*PolicyVariants, error) {
	compiler := &destinationCompiler{
		kind: c.kind, semantics: c.semantics, tags: c.destination.Tags, policies: c.policies, routes: c.routes, predicates: c.predicates, most: most,
	}
	set, contents, err := compiler.compile()
	if err != nil {
		return nil, err
	}
	return &PolicyVariants{c.kind, c.destination, set, contents}, nil
}

// RouteSets returns a set for each route policy with a `to` for the destination, sorted
// by KRI. One variant of a set is for the parameters that the route selects, the other
// for all other parameters. There are no sets for a kind of routes.
func (c *Compilation) RouteSets() ([]*Set, error) {
	var sets []*Set
	for _, r := range c.routes {
		set, err := FirstMatch([]Constraint{{predicate: c.predicates[r]}})
		if err != nil {
			return nil, err
		}
		sets = append(sets, set)
	}
	return sets, nil
}

// Policies returns the policies of the kind that concern the destination, lowest priority
// first. The caller must not change the slice.
func (c *Compilation) Policies() []*resource.Policy { return c.policies }

// Selectors returns the constraints of all policies and routes that concern the
// destination. Parameters that satisfy the same constraints have the same confs.
func (c *Compilation) Selectors() []Constraint {
	var list []Constraint
	for _, p := range slices.Concat(c.policies, c.routes) {
		list = append(list, Constraint{predicate: c.predicates[p]})
	}
	return list
}

// Cell returns the canonical conjunction of constraints, each of them negated if it does
// not hold for the parameters. The cell names all keys of the constraints, so all cells
// of the same constraints are variants of one set (SPEC 9.3). The cost is at most about
// the square of the number of constraints. example contains parameters of the cell; it is
// the same for all parameters of the cell. It returns the same errors as [Compile].
func Cell(constraints []Constraint, p Parameters) (cell Constraint, example Parameters, err error) {
	var keys []string
	members := make([]partition.Predicate, len(constraints))
	for i, c := range constraints {
		keys = append(keys, c.Keys()...)
		if members[i] = c.predicate; !c.Accepts(p) {
			members[i] = partition.Not(c.predicate)
		}
	}
	slices.Sort(keys)
	set, err := partition.Canonicalize(partition.And(members...), limits)
	if err != nil {
		return Constraint{}, nil, err
	}
	example, _ = set.Witness() // p is another one
	cell, err = canonical(set, slices.Compact(keys))
	return cell, example, err
}
