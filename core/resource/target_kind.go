package resource

import (
	"strconv"
	"strings"
)

// TargetKind is the kind of a targetRef. The constants are in the order of
// SPEC 3's levels, lowest priority first; a Dataplane with a sectionName is a
// level of its own between Dataplane and MeshSubset.
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
	TargetMeshGatewayRoute
	TargetMeshHTTPRoute
	TargetMeshTCPRoute
	targetKindEnd
)

var targetKindNames = [...]string{"", "Mesh", "Dataplane", "MeshSubset", "MeshGateway", "MeshService", "MeshServiceSubset", "MeshExternalService", "MeshMultiZoneService", "MeshGatewayRoute", "MeshHTTPRoute", "MeshTCPRoute"}

// String returns the kind as it is written, "" for NoTarget.
func (k TargetKind) String() string {
	if k >= targetKindEnd {
		return "TargetKind(" + strconv.Itoa(int(k)) + ")"
	}
	return targetKindNames[k]
}

// IsRoute reports whether the kind names a route.
func (k TargetKind) IsRoute() bool { return k >= TargetMeshGatewayRoute }

func parseTargetKind(s string) (TargetKind, bool) {
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

// Names returns the kinds as they are written, in order.
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

// The sets that SPEC 2.4 gives to every kind; a kind's package may use them
// or declare its own.
const (
	// TopTargets is every top-level kind but the routes.
	TopTargets = TargetKinds(1<<TargetMesh | 1<<TargetDataplane | 1<<TargetMeshSubset | 1<<TargetMeshGateway | 1<<TargetMeshService | 1<<TargetMeshServiceSubset)
	// RouteTargets is the routes.
	RouteTargets = TargetKinds(1<<TargetMeshGatewayRoute | 1<<TargetMeshHTTPRoute | 1<<TargetMeshTCPRoute)
	// FromTargets selects clients.
	FromTargets = TargetKinds(1<<TargetMesh | 1<<TargetMeshSubset | 1<<TargetMeshService | 1<<TargetMeshServiceSubset)
	// ServiceTargets selects outbounds.
	ServiceTargets = TargetKinds(1<<TargetMesh | 1<<TargetMeshService | 1<<TargetMeshServiceSubset)
	// DestinationTargets selects destinations (SPEC 17.3).
	DestinationTargets = TargetKinds(1<<TargetMeshService | 1<<TargetMeshExternalService | 1<<TargetMeshMultiZoneService)
	// ToTargets selects outbounds, destinations and routes.
	ToTargets = ServiceTargets | DestinationTargets | TargetKinds(1<<TargetMeshHTTPRoute)
	// RoutedTargets is what the `to` items of routes select.
	RoutedTargets = DestinationTargets | TargetKinds(1<<TargetMeshServiceSubset)
	// GatewayTargets is what `to` items for the listeners of a gateway select: all of them.
	GatewayTargets = TargetKinds(1 << TargetMesh)
)
