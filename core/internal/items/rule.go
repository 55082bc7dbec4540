package items

import (
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Contributes reports whether the items of a policy may apply to the requests of a
// route. If route is nil, it is about all requests of an outbound or of a listener. A
// policy that is attached to a route applies to that route alone (SPEC 4.3).
func Contributes(s semantics.Semantics, p, route *resource.Policy) bool {
	return !p.TargetRef.Kind.IsRoute() || route != nil && s.RefersToRoute(p, &p.TargetRef, route)
}

// Applies reports whether an item of a policy, with the targetRef t, applies to an outbound
// with the given tags (SPEC 4.2, 4.3). If route is not nil, it is about that route of the
// outbound.
func Applies(s semantics.Semantics, p *resource.Policy, t *resource.TargetRef, tags resource.Tags, route *resource.Policy) bool {
	switch {
	case !Contributes(s, p, route):
		return false
	case t.Kind.IsRoute():
		return route != nil && s.RefersToRoute(p, t, route)
	}
	return t.SelectsOutbound(tags)
}
