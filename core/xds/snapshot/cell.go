package snapshot

import (
	"errors"
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/internal/variant"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// cells answers the locators of a destination with more variants than are compiled (SPEC
// 9.4). A cell is the set of parameters for which the same constraints hold: the selectors of
// the policies and routes that concern the destination, the selectors of identities, and the
// values of the facets that confs declare. All parameters of a cell have the same resources,
// so the cell is their variant: its constraints come from the policies, and its resources are
// built for an example of the cell. So the variant depends on the policies and the parameters
// alone. Only cells that clients ask for are built.
type cells struct {
	constraints []variant.Constraint
	declared    facetSet

	mu    sync.Mutex
	built map[string]*cell // by the constraints that hold
}

// maxCells limits the cells that are kept. They are built again when they are asked for.
const maxCells = 4096

// A cell is what parameters choose, of all types.
type cell struct {
	constraints string
	resources   example
}

// init collects the constraints of a destination.
func (c *cells) init(s *State, n *located, d *destination) {
	for _, of := range n.compilations {
		c.constraints = append(c.constraints, of.Selectors()...)
	}
	c.constraints = append(c.constraints, n.identityRules(d)...)
	c.declared = n.declaredFacets(s)
	for _, list := range n.facetConstraints(s, facetSet{}, c.declared) {
		c.constraints = append(c.constraints, list...)
	}
	c.built = map[string]*cell{}
}

// locate returns the variant for parameters. It builds without the lock.
func (c *cells) locate(s *State, n *located, d *destination, t wire.Type, p variant.Parameters) (wire.Variant, bool) {
	key := holding(c.constraints, p)
	c.mu.Lock()
	of := c.built[key]
	c.mu.Unlock()
	if of == nil {
		built, err := c.build(s, n, d, p)
		if err != nil {
			built = &cell{} // without resources
		}
		of = c.keep(key, built)
	}
	if of.resources[t] == nil {
		return wire.Variant{}, false
	}
	return wire.Variant{Resource: of.resources[t], Constraints: of.constraints}, true
}

// errUndeclared indicates that a build asked for a facet that no conf declares: a cell may
// have parameters that lead to other resources (see xds.Translator).
var errUndeclared = errors.New("a translator asks for a facet that it does not declare")

// build builds the cell of parameters.
func (c *cells) build(s *State, n *located, d *destination, p variant.Parameters) (*cell, error) {
	constraint, of, err := variant.Cell(c.constraints, p)
	if err != nil {
		return nil, err
	}
	resources, used, _ := n.example(s, d, of) // see located.holds
	if !c.declared.has(used) {
		return nil, errUndeclared
	}
	data, err := proto.MarshalOptions{Deterministic: true}.Marshal(constraint.Proto())
	return &cell{string(data), resources}, err
}

// keep keeps a cell, and returns it, or an equal cell that another caller has kept.
func (c *cells) keep(key string, of *cell) *cell {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.built[key]; known != nil {
		return known
	}
	if len(c.built) >= maxCells {
		clear(c.built)
	}
	c.built[key] = of
	return of
}

// holding returns a byte for each constraint: whether it accepts the parameters.
func holding(constraints []variant.Constraint, p variant.Parameters) string {
	b := make([]byte, len(constraints))
	for i, c := range constraints {
		if c.Accepts(p) {
			b[i] = 1
		}
	}
	return string(b)
}
