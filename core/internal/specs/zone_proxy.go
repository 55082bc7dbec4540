package specs

import (
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
)

// ZoneIngress is the spec of a ZoneIngress.
//
//confgen:schema
type ZoneIngress struct {
	Zone              string             `json:"zone,omitzero"`
	Networking        IngressNetworking  `json:"networking"`
	AvailableServices []AvailableService `json:"availableServices,omitzero"`
}

// IngressNetworking contains the addresses at which a ZoneIngress listens and other
// zones reach it.
type IngressNetworking struct {
	Address string `json:"address,omitzero"`
	//confgen:openapi {"minimum": 1, "maximum": 65535}
	Port              uint32 `json:"port"`
	AdvertisedAddress string `json:"advertisedAddress,omitzero"`
	//confgen:openapi {"maximum": 65535}
	AdvertisedPort uint32      `json:"advertisedPort,omitzero"`
	Admin          *EnvoyAdmin `json:"admin,omitzero"`
}

// EnvoyAdmin is the port of a proxy's admin interface.
type EnvoyAdmin struct {
	//confgen:openapi {"maximum": 65535}
	Port uint32 `json:"port,omitzero"`
}

// Validate checks the port.
func (a *EnvoyAdmin) Validate(at *diag.At) {
	if a.Port != 0 {
		conf.ValidatePort(at, "port", a.Port)
	}
}

// Validate checks the ports and the given addresses.
func (n *IngressNetworking) Validate(at *diag.At) {
	conf.ValidatePort(at, "port", n.Port)
	if n.AdvertisedPort != 0 {
		conf.ValidatePort(at, "advertisedPort", n.AdvertisedPort)
	}
	if n.Address != "" {
		validateHost(at.Field("address"), n.Address)
	}
	if n.AdvertisedAddress != "" {
		validateHost(at.Field("advertisedAddress"), n.AdvertisedAddress)
	}
}

// AvailableService is a set of tags that dataplanes of a zone have.
type AvailableService struct {
	Tags            Tags   `json:"tags,omitzero"`
	Instances       uint32 `json:"instances,omitzero"`
	Mesh            string `json:"mesh,omitzero"`
	ExternalService bool   `json:"externalService,omitzero"`
}

// Validate checks the tags.
func (s *AvailableService) Validate(at *diag.At) { ValidateTags(at.Field("tags"), s.Tags) }

// ZoneEgress is the spec of a ZoneEgress.
//
//confgen:schema
type ZoneEgress struct {
	Zone       string           `json:"zone,omitzero"`
	Networking EgressNetworking `json:"networking"`
}

// EgressNetworking is the address at which a ZoneEgress listens.
type EgressNetworking struct {
	Address string `json:"address,omitzero"`
	//confgen:openapi {"minimum": 1, "maximum": 65535}
	Port  uint32      `json:"port"`
	Admin *EnvoyAdmin `json:"admin,omitzero"`
}

// Validate checks the port and, if given, the address.
func (n *EgressNetworking) Validate(at *diag.At) {
	conf.ValidatePort(at, "port", n.Port)
	if n.Address != "" {
		validateHost(at.Field("address"), n.Address)
	}
}
