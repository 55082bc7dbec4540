package naive

import (
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
	case resource.TargetMeshGatewayRoute:
		return 8, "MeshGatewayRoute"
	case resource.TargetMeshHTTPRoute:
		return 8, "MeshHTTPRoute"
	case resource.TargetMeshTCPRoute:
		return 8, "MeshTCPRoute"
	}
	panic("naive: a policy without a targetRef")
}
