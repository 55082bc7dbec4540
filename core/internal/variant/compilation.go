package variant

import (
	"cmp"
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/items"
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
	// predicates accept the parameters for which policies and routes are enforced. For a
	// policy that is attached to a route, the predicates of both must accept.
	predicates map[*resource.Policy]partition.Predicate
}

// dependsOn reports whether a policy contributes to the content of the destination, before or
// after a change.
func (c *Compilation) dependsOn(p *resource.Policy) bool {
	if c.kind.Default != nil {
		return p.Kind == c.kind.Name
	}
	// For a policy of the kind, RoutesOutbound reports whether any item selects the outbound.
	return p.RoutesOutbound(c.destination.Tags) ||
		slices.ContainsFunc(c.routes, func(r *resource.Policy) bool { return len(c.appendConfs(nil, p, r)) > 0 })
}

// appendConfs appends the confs of a policy for the outbound or, if route is not nil, for a
// route of it: of the `to` items that apply.
func (c *Compilation) appendConfs(confs []resource.Conf, p, route *resource.Policy) []resource.Conf {
	if c.kind.Default != nil {
		return append(confs, p.Default)
	}
	for i := range p.To {
		if items.Applies(c.semantics, p, &p.To[i].TargetRef, c.destination.Tags, route) {
			confs = append(confs, p.To[i].Conf)
		}
	}
	return confs
}

// Compile returns the variants. More variants than most are an error. The error is a
// [*partition.LimitError], or wraps [ErrConstraint].
func (c *Compilation) Compile(most int) (*PolicyVariants, error) {
	set, confs, err := c.merge(nil, most)
	if err != nil {
		return nil, err
	}
	contents := make([]*PolicyContent, len(confs))
	if len(c.routes) == 0 {
		for i, conf := range confs {
			contents[i] = &PolicyContent{Conf: conf}
		}
		return &PolicyVariants{c.kind, c.destination, set, contents}, nil
	}
	product := &contentProduct{tuples: newTuples(len(c.routes) + 1)}
	product.add(set, confs, partition.True(), 0)
	for i, route := range c.routes {
		set, confs, err := c.merge(route, most)
		if err != nil {
			return nil, err
		}
		product.add(set, confs, c.predicates[route], i+1)
	}
	set, states, err := compile(product.items, product, func(state int) int { return state }, most)
	if err != nil {
		return nil, err
	}
	contents = make([]*PolicyContent, len(states))
	for i, state := range states {
		contents[i] = product.content(state, c.routes)
	}
	return &PolicyVariants{c.kind, c.destination, set, contents}, nil
}

// merge returns the variants of the merge of the confs for the outbound or, if route is not
// nil, for a route of it. For a route these are the variants for parameters that the route
// selects; a policy that is attached to the route selects the same ones.
func (c *Compilation) merge(route *resource.Policy, most int) (*ConstraintSet, []resource.Conf, error) {
	var predicates []partition.Predicate
	var confs []resource.Conf
	for _, p := range c.policies {
		for confs = c.appendConfs(confs, p, route); len(predicates) < len(confs); {
			predicates = append(predicates, c.predicates[p])
		}
	}
	m := newConfMerger(cmp.Or(c.kind.Default, c.kind.To).Conf, confs)
	return compile(predicates, m, m.content, most)
}

// RouteSets returns a set for each route policy with a `to` for the destination, sorted
// by KRI. One variant of a set is for the parameters that the route selects, the other
// for all other parameters. There are no sets for a kind of routes.
func (c *Compilation) RouteSets() ([]*ConstraintSet, error) {
	var sets []*ConstraintSet
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
