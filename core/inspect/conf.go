package inspect

import (
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// C is a conf with its reasons, as it stands everywhere in the answers.
type C struct {
	Conf    resource.Conf     `json:"conf"`
	Origins []Origin          `json:"origins"`
	Fields  map[string]Origin `json:"fields,omitzero"` // by JSON pointer; on demand
}

// Origin names an item of a policy.
type Origin struct {
	KRI   string `json:"kri"`
	Index int    `json:"index"`
}

// NewC renders a conf; nil for one that no item selects.
func NewC(e *rules.Effective, explain bool) *C {
	if e == nil {
		return nil
	}
	c := &C{Conf: e.Conf, Origins: make([]Origin, len(e.Origins))}
	for i, o := range e.Origins {
		c.Origins[i] = newOrigin(o)
	}
	if explain {
		c.Fields = map[string]Origin{}
		for pointer, o := range e.Fields() {
			c.Fields[pointer] = newOrigin(o)
		}
	}
	return c
}

func newOrigin(o rules.Origin) Origin { return Origin{o.Policy.KRI(), o.Index} }
