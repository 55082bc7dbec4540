package snapshot

import (
	"slices"
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/variant"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// cells answers the locators of a destination with more variants than are compiled (SPEC
// 9.4). A cell is the parameters for which the same selectors hold: of the policies and
// routes that concern the destination, of identities, and of the facets that the build
// asks for. All parameters of a cell have the same resources, so the cell is their
// variant. Which variant answers depends on the parameters alone, and only cells that
// clients ask for are built.
type cells struct {
	selectors []variant.Constraint

	mu     sync.Mutex
	facets map[string][]variant.Constraint // by the selectors that hold
	built  map[string]*cell                // by the selectors and facets that hold
}

// maxCells limits the cells that are kept. They are built again when they are asked for.
const maxCells = 4096

// A cell is what parameters choose, of all types.
type cell struct {
	constraints string
	resources   example
}

// init collects the selectors of a destination.
func (c *cells) init(n *located, s *State, d *destination) {
	for _, of := range n.compilations {
		c.selectors = append(c.selectors, of.Selectors()...)
	}
	c.selectors = append(c.selectors, n.identityRules(d)...)
	c.facets, c.built = map[string][]variant.Constraint{}, map[string]*cell{}
}

// locate returns the variant for parameters. It builds without the lock.
func (c *cells) locate(s *State, n *located, d *destination, t wire.Type, p variant.Parameters) (wire.Variant, bool) {
	selected := holding(c.selectors, p)
	c.mu.Lock()
	facets, known := c.facets[selected]
	of := c.built[selected+holding(facets, p)]
	c.mu.Unlock()
	if !known || of == nil {
		resources, used := n.example(s, d, p)
		facets = slices.Concat(facetConstraints(s, d, n.set, facetSet{}, used)...)
		constraint, err := variant.Cell(slices.Concat(c.selectors, facets), p)
		if err != nil {
			return wire.Variant{}, false
		}
		data, err := proto.MarshalOptions{Deterministic: true}.Marshal(constraint.Proto())
		if err != nil {
			return wire.Variant{}, false
		}
		of = c.keep(selected, facets, selected+holding(facets, p), &cell{string(data), resources})
	}
	if of.resources[t] == nil {
		return wire.Variant{}, false
	}
	return wire.Variant{Resource: of.resources[t], Constraints: of.constraints}, true
}

// keep keeps a cell, and returns it or the one that another caller has kept.
func (c *cells) keep(selected string, facets []variant.Constraint, key string, of *cell) *cell {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.built) >= maxCells {
		clear(c.facets)
		clear(c.built)
	}
	c.facets[selected] = facets
	if known := c.built[key]; known != nil {
		return known
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
