package specs

import (
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
)

// Zone is the spec of a Zone.
//
//confgen:schema
type Zone struct {
	Enabled *bool `json:"enabled,omitzero"` // nil: true
}

// MeshZoneAddress is the spec of a MeshZoneAddress.
//
//confgen:schema
type MeshZoneAddress struct {
	Address string `json:"address"`
	//confgen:openapi {"minimum": 1, "maximum": 65535}
	Port uint32 `json:"port"`
}

// Validate checks the address and the port.
func (s *MeshZoneAddress) Validate(at *diag.At) {
	validateHost(at.Field("address"), s.Address)
	conf.ValidatePort(at, "port", s.Port)
}
