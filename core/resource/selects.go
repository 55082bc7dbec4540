package resource

import "slices"

// IsService reports whether the kind selects by the name of a service:
// MeshService or MeshServiceSubset.
func (k TargetKind) IsService() bool {
	return k == TargetMeshService || k == TargetMeshServiceSubset
}

// Equal reports whether both targetRefs have the same fields.
func (t *TargetRef) Equal(o *TargetRef) bool {
	return t.Kind == o.Kind && t.Name == o.Name && t.Namespace == o.Namespace &&
		slices.Equal(t.Tags, o.Tags) && slices.Equal(t.Labels, o.Labels) &&
		t.SectionName == o.SectionName && t.ProxyTypes == o.ProxyTypes
}

// RefersToDestination reports whether the targetRef of a `to` item can only
// refer to resources (SPEC 17.3), and not to a service by its tag.
func (t *TargetRef) RefersToDestination() bool {
	switch t.Kind {
	case TargetMeshExternalService, TargetMeshMultiZoneService:
		return true
	case TargetMeshService:
		return t.Namespace != "" || t.Labels != nil || t.SectionName != ""
	}
	return false
}

// SelectsOutbound reports whether the targetRef of a `to` item selects an outbound
// with the given tags (SPEC 4.2). A targetRef that has a route kind or refers to a
// destination selects no outbound.
func (t *TargetRef) SelectsOutbound(tags Tags) bool {
	switch {
	case t.RefersToDestination():
		return false
	case t.Kind.IsService():
		return t.Name == tags.Value(ServiceTag) && tags.Contains(t.Tags)
	case t.Kind == TargetMeshSubset:
		return tags.Contains(t.Tags)
	}
	return t.Kind == TargetMesh
}

// SelectsRoute reports whether a targetRef of a route kind selects the route by its
// labels or by its name (SPEC 4.3, 17.3). The route is a policy of that kind.
func (t *TargetRef) SelectsRoute(route *Policy) bool {
	switch {
	case t.Kind.String() != route.Kind:
		return false
	case len(t.Labels) > 0:
		return route.HasLabels(t.Labels)
	}
	return t.Name == route.Name && (t.Namespace == "" || t.Namespace == route.Namespace)
}

// RoutesOutbound reports whether a route, which is a policy of a route kind,
// has a `to` item for an outbound with the given tags (SPEC 4.3).
func (p *Policy) RoutesOutbound(tags Tags) bool {
	return slices.ContainsFunc(p.To, func(item Item) bool { return item.TargetRef.SelectsOutbound(tags) })
}
