package rules

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/match"
	"github.com/meshmatch/meshmatch/core/resource"
)

// filing is the concatenated `to` items of a part (SPEC 4.1), filed by what they
// select. It calls them by position and so stays right when a policy is replaced
// by a version with the same targetRefs. It is immutable.
type filing struct {
	everywhere []itemRef
	subsets    []itemRef            // of whatever service; only kinds of embedders have them
	services   map[string][]itemRef // one for a service's subset stands with the service
	routes     map[string][]itemRef // by a route's name
}

// itemRef is the position of a policy and, in the lower half, of an item of
// it: a larger one has higher priority.
type itemRef uint64

func (r itemRef) of(matched match.Matched) (p *resource.Policy, index int) {
	return matched.At(int(r >> 32)).Policy, int(r & 0xffff_ffff)
}

func newFiling(matched match.Matched) *filing {
	f := &filing{routes: map[string][]itemRef{}}
	// Services are numbered first: a map of slices would be written for each
	// item.
	numbers := map[string]int{}
	var services [][]itemRef
	for i, s := range matched.All() {
		to := s.Policy.To
		for j := range to {
			ref := itemRef(i)<<32 | itemRef(j)
			switch t := &to[j].TargetRef; {
			case t.Kind == resource.TargetMesh:
				f.everywhere = append(f.everywhere, ref)
			case t.Kind == resource.TargetMeshSubset:
				f.subsets = append(f.subsets, ref)
			case ofService(t):
				number, known := numbers[t.Name]
				if !known {
					number = len(services)
					numbers[t.Name] = number
					services = append(services, nil)
				}
				services[number] = append(services[number], ref)
			case t.Kind.IsRoute():
				f.routes[t.Name] = append(f.routes[t.Name], ref)
			}
		}
	}
	f.services = make(map[string][]itemRef, len(numbers))
	for name, number := range numbers {
		f.services[name] = slices.Clip(services[number])
	}
	f.everywhere = slices.Clip(f.everywhere)
	return f
}

func ofService(t *resource.TargetRef) bool {
	return t.Kind == resource.TargetMeshService || t.Kind == resource.TargetMeshServiceSubset
}

// sameFiling reports whether the items of two versions of a policy are filed
// alike.
func sameFiling(a, b *resource.Policy) bool {
	return a.TargetRef.Kind.IsRoute() == b.TargetRef.Kind.IsRoute() &&
		slices.EqualFunc(a.To, b.To, func(a, b resource.Item) bool { return sameTarget(&a.TargetRef, &b.TargetRef) })
}

// sameTarget compares what targetRefs of `to` items have.
func sameTarget(a, b *resource.TargetRef) bool {
	return a.Kind == b.Kind && a.Name == b.Name && a.Namespace == b.Namespace && slices.Equal(a.Tags, b.Tags)
}
