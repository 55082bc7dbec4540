package match

import (
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Number returns the class's number; tests check how numbers are reused.
func (c *Class[S]) Number() uint32 { return c.number }

// NewIndex returns an index of the policies of one mesh, given in any order.
func NewIndex(policies []*resource.Policy, reading semantics.Reading) (*Index, error) {
	e := Empty(reading).Edit()
	if err := e.PutAll(policies); err != nil {
		return nil, err
	}
	x, _, err := e.Commit()
	return x, err
}
