package resource

import (
	"cmp"

	"github.com/meshmatch/meshmatch/core/diag"
)

// ZoneIngress is the proxy where traffic from other zones enters a zone.
type ZoneIngress struct {
	ObjectOf[ZoneIngressSpec]
}

// ZoneIngressSpec is a ZoneIngress as it is written.
type ZoneIngressSpec struct {
	Zone              string             `json:"zone,omitzero"`
	Networking        IngressNetworking  `json:"networking"`
	AvailableServices []AvailableService `json:"availableServices,omitzero"`
}

// IngressNetworking is where a ZoneIngress listens, and by which address other zones
// reach it.
type IngressNetworking struct {
	Address           string      `json:"address,omitzero"`
	Port              uint32      `json:"port"`
	AdvertisedAddress string      `json:"advertisedAddress,omitzero"`
	AdvertisedPort    uint32      `json:"advertisedPort,omitzero"`
	Admin             *EnvoyAdmin `json:"admin,omitzero"`
}

// EnvoyAdmin is where a proxy answers about itself.
type EnvoyAdmin struct {
	Port uint32 `json:"port,omitzero"`
}

// Validate checks the port.
func (a *EnvoyAdmin) Validate(at *diag.At) {
	if a.Port != 0 {
		validatePort(at, "port", a.Port)
	}
}

// Validate checks the ports, and the addresses that are given.
func (n *IngressNetworking) Validate(at *diag.At) {
	validatePort(at, "port", n.Port)
	if n.AdvertisedPort != 0 {
		validatePort(at, "advertisedPort", n.AdvertisedPort)
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
func (s *AvailableService) Validate(at *diag.At) { validateTags(at.Field("tags"), s.Tags) }

// ZoneEgress is the proxy where traffic to other zones and to external services
// leaves a zone.
type ZoneEgress struct {
	ObjectOf[ZoneEgressSpec]
}

// ZoneEgressSpec is a ZoneEgress as it is written.
type ZoneEgressSpec struct {
	Zone       string           `json:"zone,omitzero"`
	Networking EgressNetworking `json:"networking"`
}

// EgressNetworking is where a ZoneEgress listens.
type EgressNetworking struct {
	Address string      `json:"address,omitzero"`
	Port    uint32      `json:"port"`
	Admin   *EnvoyAdmin `json:"admin,omitzero"`
}

// Validate checks the port, and the address if it is given.
func (n *EgressNetworking) Validate(at *diag.At) {
	validatePort(at, "port", n.Port)
	if n.Address != "" {
		validateHost(at.Field("address"), n.Address)
	}
}

// Zone returns the zone of the ingress: its field, else its label.
func (z *ZoneIngress) Zone() string { return cmp.Or(z.Spec.Zone, z.Meta.Zone()) }

// Zone returns the zone of the egress: its field, else its label.
func (z *ZoneEgress) Zone() string { return cmp.Or(z.Spec.Zone, z.Meta.Zone()) }
