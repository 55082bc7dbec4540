package resource

import (
	"cmp"

	"github.com/meshmatch/meshmatch/core/internal/specs"
)

// ZoneIngress is the proxy through which traffic from other zones enters a
// zone.
type ZoneIngress struct {
	ObjectOf[specs.ZoneIngress]
}

// ZoneEgress is the proxy through which traffic to other zones and to external
// services leaves a zone.
type ZoneEgress struct {
	ObjectOf[specs.ZoneEgress]
}

// Zone returns the zone of the ingress from its field or, without the field,
// from its label.
func (z *ZoneIngress) Zone() string { return cmp.Or(z.Spec.Zone, z.Meta.Zone()) }

// Zone returns the zone of the egress from its field or, without the field,
// from its label.
func (z *ZoneEgress) Zone() string { return cmp.Or(z.Spec.Zone, z.Meta.Zone()) }
