package resource

import (
	"strconv"
	"strings"
)

// TargetKind is the kind of a targetRef. The constants are in the order of the
// levels of SPEC 3, lowest priority first. A Dataplane with a sectionName is a
// separate level between Dataplane and MeshSubset.
type TargetKind uint8

// The kinds of targetRefs.
const (
	NoTarget TargetKind = iota
	TargetMesh
	TargetDataplane
	TargetMeshSubset
	TargetMeshGateway
	TargetMeshService
	TargetMeshServiceSubset
	TargetMeshExternalService
	TargetMeshMultiZoneService
	TargetMeshHTTPRoute
	TargetMeshTCPRoute
	targetKindEnd
)

var targetKindNames = [...]string{"", "Mesh", "Dataplane", "MeshSubset", "MeshGateway", "MeshService", "MeshServiceSubset", "MeshExternalService", "MeshMultiZoneService", "MeshHTTPRoute", "MeshTCPRoute"}

// String returns the kind in its written form, or "" for NoTarget.
func (k TargetKind) String() string {
	if k >= targetKindEnd {
		return "TargetKind(" + strconv.Itoa(int(k)) + ")"
	}
	return targetKindNames[k]
}

// word returns the kind in its written form, or nil for NoTarget.
func (k TargetKind) word() *string {
	if k < targetKindEnd {
		return present(&targetKindNames[k])
	}
	unknown := k.String()
	return &unknown
}

// IsRoute reports whether the kind names a route.
func (k TargetKind) IsRoute() bool { return k >= TargetMeshHTTPRoute }

// ParseTargetKind returns the kind of a name, and reports whether there is one.
func ParseTargetKind(s string) (TargetKind, bool) {
	for k := TargetMesh; k < targetKindEnd; k++ {
		if targetKindNames[k] == s {
			return k, true
		}
	}
	return NoTarget, false
}

// TargetKinds is a set of kinds; | is the union.
type TargetKinds uint16

// Targets returns the set of kinds.
func Targets(kinds ...TargetKind) TargetKinds {
	var s TargetKinds
	for _, k := range kinds {
		s |= 1 << k
	}
	return s
}

// Has reports whether the set has k.
func (s TargetKinds) Has(k TargetKind) bool { return s&(1<<k) != 0 }

// Names returns the kinds in their written form, in order.
func (s TargetKinds) Names() []string {
	var names []string
	for k := TargetMesh; k < targetKindEnd; k++ {
		if s.Has(k) {
			names = append(names, k.String())
		}
	}
	return names
}

// String returns the names separated by commas.
func (s TargetKinds) String() string { return strings.Join(s.Names(), ", ") }

// The sets of SPEC 2.4. The package of a kind may use them or declare others.
const (
	// TopTargets contains every top-level kind except the routes.
	TopTargets = TargetKinds(1<<TargetMesh | 1<<TargetDataplane | 1<<TargetMeshSubset | 1<<TargetMeshGateway | 1<<TargetMeshService | 1<<TargetMeshServiceSubset)
	// RouteTargets contains the routes.
	RouteTargets = TargetKinds(1<<TargetMeshHTTPRoute | 1<<TargetMeshTCPRoute)
	// FromTargets selects clients.
	FromTargets = TargetKinds(1<<TargetMesh | 1<<TargetMeshSubset | 1<<TargetMeshService | 1<<TargetMeshServiceSubset)
	// ServiceTargets selects outbounds.
	ServiceTargets = TargetKinds(1<<TargetMesh | 1<<TargetMeshService | 1<<TargetMeshServiceSubset)
	// DestinationTargets selects destinations (SPEC 17.3).
	DestinationTargets = TargetKinds(1<<TargetMeshService | 1<<TargetMeshExternalService | 1<<TargetMeshMultiZoneService)
	// ToTargets selects outbounds, destinations and routes.
	ToTargets = ServiceTargets | DestinationTargets | TargetKinds(1<<TargetMeshHTTPRoute)
	// RoutedTargets contains the kinds for the `to` items of routes.
	RoutedTargets = DestinationTargets | TargetKinds(1<<TargetMeshServiceSubset)
	// GatewayTargets contains the kind of `to` items for the listeners of a gateway, which
	// select all listeners.
	GatewayTargets = TargetKinds(1 << TargetMesh)
)
