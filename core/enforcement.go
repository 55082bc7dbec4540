package core

import (
	"reflect"

	"github.com/meshmatch/meshmatch/core/internal/enforce"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/internal/mesh"
)

// enforcement applies the part of a batch that concerns placements and bindings. This
// precedes any change of a mesh, as policies of all meshes depend on it.
func (b *Batch) enforcement(before *enforce.Hub) mesh.Enforcement {
	var e *enforce.Editor // nil: no change so far
	edit := func() *enforce.Editor {
		if e == nil {
			e = before.Edit()
		}
		return e
	}
	for _, document := range b.upserts().Documents {
		r := ocm.ResourceOf(document)
		if r != nil && !reflect.DeepEqual(before.Resource(r.Identity().ID), r) {
			edit().Put(r)
		}
	}
	for _, id := range b.Delete {
		if ocm.IsKind(id.Kind) && id.Mesh == "" {
			edit().Remove(id)
		}
	}
	if e == nil {
		return mesh.Enforcement{State: before}
	}
	state, delta := e.Commit()
	return mesh.Enforcement{State: state, Delta: delta}
}
