package blocks

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// toIndex contains the concatenated `to` items of the matched policies (SPEC
// 4.1), by what they select. It refers to items by position, so it stays valid
// when a policy is replaced by a version with the same targetRefs. It is
// immutable. Each list is in ascending order.
type toIndex struct {
	mesh     []itemRef            // items that select every outbound
	subsets  []itemRef            // MeshSubset items; only kinds of embedders have them
	services map[string][]itemRef // MeshService and MeshServiceSubset items, by service
	routes   map[string][]itemRef // items that select a route, by the route's name
}

// itemRef is the position of a policy, in the upper half, and of an item in it.
// A larger itemRef has higher priority.
type itemRef uint64

func (r itemRef) of(matched rules.Matched) (p *resource.Policy, index int) {
	return matched.At(int(r >> 32)).Policy, int(r & 0xffff_ffff)
}

func newToIndex(matched rules.Matched) *toIndex {
	x := &toIndex{routes: map[string][]itemRef{}}
	// Services are numbered first, so that an item of a known service is
	// appended to a slice without a second write to a map.
	numbers := map[string]int{}
	var services [][]itemRef
	for i, s := range matched.All() {
		to := s.Policy.To
		for j := range to {
			ref := itemRef(i)<<32 | itemRef(j)
			switch t := &to[j].TargetRef; {
			case t.Kind == resource.TargetMesh:
				x.mesh = append(x.mesh, ref)
			case t.Kind == resource.TargetMeshSubset:
				x.subsets = append(x.subsets, ref)
			case t.Kind.IsService():
				number, known := numbers[t.Name]
				if !known {
					number = len(services)
					numbers[t.Name] = number
					services = append(services, nil)
				}
				services[number] = append(services[number], ref)
			case t.Kind.IsRoute():
				x.routes[t.Name] = append(x.routes[t.Name], ref)
			}
		}
	}
	x.services = make(map[string][]itemRef, len(numbers))
	for name, number := range numbers {
		x.services[name] = slices.Clip(services[number])
	}
	x.mesh = slices.Clip(x.mesh)
	return x
}

// sameToIndex reports whether the items of two versions of a policy are at the
// same places of a toIndex.
func sameToIndex(a, b *resource.Policy) bool {
	return a.TargetRef.Kind.IsRoute() == b.TargetRef.Kind.IsRoute() &&
		slices.EqualFunc(a.To, b.To, func(a, b resource.Item) bool { return a.TargetRef.Equal(&b.TargetRef) })
}
