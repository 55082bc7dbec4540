package rules

import "github.com/meshmatch/meshmatch/core/resource"

// namesRoute reports whether a targetRef of a route kind names the route,
// which is a policy of that kind.
func namesRoute(t *resource.TargetRef, route *resource.Policy) bool {
	return t.Kind.String() == route.Kind && t.Name == route.Name && (t.Namespace == "" || t.Namespace == route.Namespace)
}

// hasRoute reports whether a route (a policy of a route kind) has a `to` for
// an outbound with the given tags (SPEC 4.3).
func hasRoute(route *resource.Policy, tags resource.Tags) bool {
	for i := range route.To {
		t := &route.To[i].TargetRef
		if t.Name == tags.Value(resource.ServiceTag) && tags.Contains(t.Tags) {
			return true
		}
	}
	return false
}
