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
}

// String returns the place in the form "MeshTimeout of outbound 3".
func (p Place) String() string {
	switch p.Kind {
	case AtOutbound:
		return fmt.Sprintf("%s of outbound %d", p.Policies, p.Index)
	case AtRoute:
		return fmt.Sprintf("%s of %s %q of outbound %d", p.Policies, p.Route.Kind, p.Route.Name, p.Index)
	case AtInbound:
		return fmt.Sprintf("%s of inbound %d", p.Policies, p.Index)
	}
	return p.Policies
}
