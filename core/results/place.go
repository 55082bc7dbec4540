package results

import (
	"fmt"

	"github.com/meshmatch/meshmatch/core/resource"
)

// PlaceKind is the kind of a [Place], a part of a dataplane that has a conf.
type PlaceKind uint8

// The kinds of places.
const (
	AtDefault  PlaceKind = iota // the whole dataplane
	AtOutbound                  // an outbound
	AtRoute                     // a route of an outbound
	AtInbound                   // an inbound
)

// Place identifies a conf of a dataplane.
type Place struct {
	Policies string // the policy kind, such as MeshTimeout
	Kind     PlaceKind
	Index    int         // of the outbound or inbound
	Route    resource.ID // of AtRoute
	// Destination and Port identify an outbound to a destination that is a resource (SPEC
	// 17.3), which has no index. The identity is zero for an outbound to tags.
	Destination resource.ID
	Port        uint32
}

// String returns the place in the form "MeshTimeout of outbound 3" or "MeshTimeout of
// MeshService backend, port 80".
func (p Place) String() string {
	switch p.Kind {
	case AtOutbound:
		return fmt.Sprintf("%s of %s", p.Policies, p.outbound())
	case AtRoute:
		return fmt.Sprintf("%s of %s %q of %s", p.Policies, p.Route.Kind, p.Route.Name, p.outbound())
	case AtInbound:
		return fmt.Sprintf("%s of inbound %d", p.Policies, p.Index)
	}
	return p.Policies
}

func (p Place) outbound() string {
	if p.Destination == (resource.ID{}) {
		return fmt.Sprintf("outbound %d", p.Index)
	}
	return fmt.Sprintf("%s %s, port %d", p.Destination.Kind, p.Destination.Qualified(), p.Port)
}
