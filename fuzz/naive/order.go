package naive

import (
	"fmt"
	"sort"

	"github.com/meshmatch/meshmatch/core/resource"
)

// matched is a policy with the inbounds of the dataplane that it selects.
type matched struct {
	*resource.Policy
	selection
}

// matching returns the policies of a kind that select the dataplane, in order.
func (m *mesh) matching(kind *resource.Kind, dp *resource.Dataplane) []matched {
	var list []matched
	for _, p := range m.policies {
		if p.Type.Name != kind.Name || !m.takesPart(p, dp) {
			continue
		}
		if s := m.selects(p, dp); s.selected {
			shareListeners(dp, s.inbounds)
			list = append(list, matched{p, s})
		}
	}
	sort.Slice(list, func(i, j int) bool { return m.overriddenBy(list[i].Policy, list[j].Policy) })
	return list
}

// overriddenBy implements SPEC 3, by level, then by name, then by namespace, or
// SPEC 17.1.
func (m *mesh) overriddenBy(a, b *resource.Policy) bool {
	if m.kumaLike() {
		return m.kumaOrder(a, b)
	}
	la, _ := level(a)
	lb, _ := level(b)
	switch {
	case la != lb:
		return la < lb
	case a.Name != b.Name:
		return a.Name < b.Name
	}
	return a.Namespace < b.Namespace
}

// level returns the rank of a policy's targetRef and the name of its kind.
func level(p *resource.Policy) (rank int, kind string) {
	switch p.TargetRef.Kind {
	case resource.TargetMesh:
		return 1, "Mesh"
	case resource.TargetDataplane:
		if p.TargetRef.SectionName == "" {
			return 2, "Dataplane"
		}
		return 3, "Dataplane"
	case resource.TargetMeshSubset:
		return 4, "MeshSubset"
	case resource.TargetMeshGateway:
		return 5, "MeshGateway"
	case resource.TargetMeshService:
		return 6, "MeshService"
	case resource.TargetMeshServiceSubset:
		return 7, "MeshServiceSubset"
	case resource.TargetMeshHTTPRoute:
		return 8, "MeshHTTPRoute"
	case resource.TargetMeshTCPRoute:
		return 8, "MeshTCPRoute"
	}
	panic("naive: a policy without a targetRef")
}

// shareListeners selects each inbound at the address and port of a selected one: they are one
// listener (SPEC 1.3).
func shareListeners(dp *resource.Dataplane, selected []bool) {
	own := append([]bool{}, selected...)
	for i := range selected {
		for j := range own {
			if own[j] && listenerAddress(dp, i) == listenerAddress(dp, j) {
				selected[i] = true
			}
		}
	}
}

func listenerAddress(dp *resource.Dataplane, i int) string {
	address := dp.Inbounds[i].Address
	if address == "" {
		address = dp.Address
	}
	return fmt.Sprint(address, " ", dp.Inbounds[i].Port)
}

// listenerOf returns the inbound that names the listener of inbound i: the first at its address
// that is not ignored, or the first.
func listenerOf(dp *resource.Dataplane, i int) int {
	first := -1
	for j := range dp.Inbounds {
		if listenerAddress(dp, i) != listenerAddress(dp, j) {
			continue
		}
		if !dp.Inbounds[j].Ignored {
			return j
		}
		if first == -1 {
			first = j
		}
	}
	return first
}
