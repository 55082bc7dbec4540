package mesh

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/specs"
	"github.com/meshmatch/meshmatch/core/resource"
)

// A list after edits has what a map after the same edits has, and it is the same list
// if they change nothing.
func TestObjectsAfter(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var list Objects
	known := map[resource.ID]uint32{}
	for range 500 {
		var edits []Edit[resource.Object]
		changes := false
		for _, i := range r.Perm(12)[:r.IntN(5)] {
			id := resource.ID{Kind: resource.MeshServiceKind, Mesh: "m", Name: fmt.Sprint(i)}
			port := uint32(1 + r.IntN(2))
			before, there := known[id]
			if r.IntN(3) == 0 {
				edits = append(edits, Edit[resource.Object]{ID: &id})
				delete(known, id)
				changes = changes || there
				continue
			}
			service := &resource.MeshService{}
			service.ID, service.Spec.Ports = id, []specs.ServicePort{{Port: port}}
			edits = append(edits, Edit[resource.Object]{&id, service})
			known[id] = port
			changes = changes || !there || before != port
		}
		sortByID(edits)
		next, changed := list.After(edits)
		if (len(changed) > 0) != changes {
			t.Fatalf("changed kinds are %q, want a change: %t", changed, changes)
		}
		list = next
		if len(list) != len(known) || !slices.IsSortedFunc(list, func(a, b resource.Object) int { return a.Identity().Compare(b.Identity().ID) }) {
			t.Fatalf("got %v, want %v", list, known)
		}
		for id, port := range known {
			if got, ok := list.Get(id).(*resource.MeshService); !ok || got.Spec.Ports[0].Port != port {
				t.Fatalf("%v is %v", id, got)
			}
		}
	}
}
