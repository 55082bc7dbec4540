package items

import (
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Contributes reports whether the items of a policy may apply to the requests of a route
// or, if route is nil, to all requests of an outbound or of a listener. A policy that is
// attached to a route applies to that route alone (SPEC 4.3).
func Contributes(s semantics.Semantics, p, route *resource.Policy) bool {
	return !p.TargetRef.Kind.IsRoute() || route != nil && s.RefersToRoute(p, &p.TargetRef, route)
}

// Applies reports whether an item of a policy, with the targetRef t, applies to an outbound
// with the given tags or, if route is not nil, to that route of it (SPEC 4.2, 4.3).
func Applies(s semantics.Semantics, p *resource.Policy, t *resource.TargetRef, tags resource.Tags, route *resource.Policy) bool {
	switch {
	case !Contributes(s, p, route):
		return false
	case t.Kind.IsRoute():
		return route != nil && s.RefersToRoute(p, t, route)
	}
	return t.SelectsOutbound(tags)
}
