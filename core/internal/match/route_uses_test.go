package match

import (
	"fmt"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Routes and the policies that are attached to them leave no entries when they are
// removed.
func TestRouteUsesForget(t *testing.T) {
	x := Empty(semantics.Reading{})
	for round := range 3 {
		for _, put := range []bool{true, false} {
			e := x.Edit()
			for i := range 10 {
				route := &resource.Policy{TargetRef: resource.TargetRef{Kind: resource.TargetMesh}}
				route.ID = resource.ID{Kind: "MeshHTTPRoute", Name: fmt.Sprint("r", i/2), Namespace: fmt.Sprint(i % 2)}
				attached := &resource.Policy{TargetRef: resource.TargetRef{Kind: resource.TargetMeshHTTPRoute, Name: fmt.Sprint("r", i%4)}}
				attached.ID = resource.ID{Kind: "MeshTimeout", Name: fmt.Sprint("p", i)}
				if put {
					e.Put(route)
					e.Put(attached)
				} else {
					e.Remove(route.ID)
					e.Remove(attached.ID)
				}
			}
			var err error
			if x, _, err = e.Commit(); err != nil {
				t.Fatal(err)
			}
			if put {
				use := x.routes.useOf(routeName{"MeshHTTPRoute", "r1"})
				if len(use.routes) != 2 || len(use.attached) != 3 || x.routes.names.Len() != 5 {
					t.Fatalf("round %d: %v of %d names", round, use, x.routes.names.Len())
				}
			}
		}
		if x.routes.names.Len() != 0 || x.facts.Len() != 0 || x.slots.Len() != 0 {
			t.Fatalf("round %d: %d names, %d facts and %d slots are left", round, x.routes.names.Len(), x.facts.Len(), x.slots.Len())
		}
		for id := range x.routes.names.Limit() {
			if use := x.routes.uses.Value(id); len(use.routes)+len(use.attached) > 0 {
				t.Fatalf("round %d: %v is left", round, use)
			}
		}
	}
}
