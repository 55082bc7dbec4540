package resource

import "github.com/meshmatch/meshmatch/core/internal/specs"

// Zone is a part of a multi-zone deployment with its own control plane.
type Zone struct{ ObjectOf[specs.Zone] }

// Workload is a group of dataplanes with the same label kuma.io/workload.
type Workload struct{ ObjectOf[struct{}] }

// MeshZoneAddress is an address by which other zones reach the zone proxies of a zone.
type MeshZoneAddress struct {
	ObjectOf[specs.MeshZoneAddress]
}
