package core

import (
	"reflect"

	"github.com/meshmatch/meshmatch/core/enforce"
	"github.com/meshmatch/meshmatch/core/enforce/ocm"
)

// enforcement is the placements and bindings after a batch, and what the batch
// changes in them; delta is nil if it changes nothing.
type enforcement struct {
	state *enforce.State
	delta *enforce.Delta
}

// enforcement makes the part of a batch that concerns placements and bindings,
// before any mesh is changed: policies of meshes depend on it.
func (b *Batch) enforcement(before *enforce.State) enforcement {
	var e *enforce.Editor // nil: no change so far
	edit := func() *enforce.Editor {
		if e == nil {
			e = before.Edit()
		}
		return e
	}
	for _, document := range b.upserts().Documents {
		r := ocm.Of(document)
		if r != nil && !reflect.DeepEqual(before.Resource(r.Identity().ID), r) {
			edit().Put(r)
		}
	}
	for _, id := range b.Delete {
		if ocm.IsKind(id.Kind) && id.Mesh == "" && before.Resource(id) != nil {
			edit().Remove(id)
		}
	}
	if e == nil {
		return enforcement{state: before}
	}
	state, delta := e.Commit()
	return enforcement{state, delta}
}
