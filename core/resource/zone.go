package resource

import (
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
)

// Zone is a part of a multi-zone deployment with its own control plane.
type Zone struct{ ObjectOf[ZoneSpec] }

// ZoneSpec is the spec of a Zone.
//
//confgen:schema
type ZoneSpec struct {
	Enabled *bool `json:"enabled,omitzero"` // nil: true
}

// Workload is a group of dataplanes with the same label kuma.io/workload.
type Workload struct{ ObjectOf[struct{}] }

// MeshZoneAddress is an address by which other zones reach the zone proxies of a zone.
type MeshZoneAddress struct {
	ObjectOf[MeshZoneAddressSpec]
}

// MeshZoneAddressSpec is the spec of a MeshZoneAddress.
//
//confgen:schema
type MeshZoneAddressSpec struct {
	Address string `json:"address"`
	//confgen:openapi {"minimum": 1, "maximum": 65535}
	Port uint32 `json:"port"`
}

// Validate checks the address and the port.
func (s *MeshZoneAddressSpec) Validate(at *diag.At) {
	validateHost(at.Field("address"), s.Address)
	conf.ValidatePort(at, "port", s.Port)
}
