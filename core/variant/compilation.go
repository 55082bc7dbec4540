package variant

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/partition"
	"github.com/meshmatch/meshmatch/core/resource"
)

// A Compilation is what the variants for one destination are compiled from: the policies
// and routes that concern it, at one view. It is immutable and safe for concurrent use.
type Compilation struct {
	kind        *resource.Kind
	destination Destination
	policies    []*resource.Policy // lowest priority first
	routes      []*resource.Policy // by KRI
	predicates  map[*resource.Policy]partition.Predicate
}

// Compile returns the variants. More of them than most are an error, which is that of
// [PolicyCompiler.Variants].
func (c *Compilation) Compile(most int) (*PolicyVariants, error) {
	compiler := &destinationCompiler{
		kind: c.kind, tags: c.destination.Tags, policies: c.policies, routes: c.routes, predicates: c.predicates, most: most,
	}
	set, contents, err := compiler.compile()
	if err != nil {
		return nil, err
	}
	return &PolicyVariants{c.kind, c.destination, set, contents}, nil
}

// RouteSets returns a set for each route policy with a `to` for the destination, by KRI:
// of its variants one is for the parameters that the route selects, the other for
// those that it does not select. There are none for a kind of routes.
func (c *Compilation) RouteSets() ([]*Set, error) {
	var sets []*Set
	for _, r := range c.routes {
		set, _, err := FirstMatch([]Constraint{{predicate: c.predicates[r]}})
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
// destination: parameters for which each of them holds, or does not hold, alike have the
// same confs.
func (c *Compilation) Selectors() []Constraint {
	var list []Constraint
	for _, p := range slices.Concat(c.policies, c.routes) {
		list = append(list, Constraint{predicate: c.predicates[p]})
	}
	return list
}

// Cell returns the canonical conjunction of constraints, each as it holds or does not
// hold for the parameters. It names all their keys, so that all cells of the same
// constraints are variants of one set (SPEC 9.3), and its cost is not more than about the
// square of their number. The example is parameters of the cell, the same for all
// parameters of it. The error is that of [Compile].
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
