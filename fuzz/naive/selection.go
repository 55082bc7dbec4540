package naive

import "github.com/meshmatch/meshmatch/core/resource"

// selection is the part of one dataplane that a policy selects. A dataplane
// without inbounds can also be selected.
type selection struct {
	selected  bool
	inbounds  []bool // one for each inbound of the dataplane
	listeners []bool // one for each listener of a builtin gateway
	zones     []bool // one for each listener of a zone proxy
}

// everything returns the selection of a dataplane with all its inbounds and listeners.
func everything(dp *resource.Dataplane) selection {
	return selection{true, filled(len(dp.Inbounds)), filled(len(listenersOf(dp))), filled(len(dp.Listeners))}
}

func filled(n int) []bool {
	list := make([]bool, n)
	for i := range list {
		list[i] = true
	}
	return list
}

func nothing(dp *resource.Dataplane) selection {
	return selection{false, make([]bool, len(dp.Inbounds)), make([]bool, len(listenersOf(dp))), make([]bool, len(dp.Listeners))}
}

// some returns the selection of the inbounds, and of the listeners of a zone proxy, for
// whose section and tags pass returns true. It includes the dataplane if there is one.
func some(dp *resource.Dataplane, pass func(section string, tags resource.Tags) bool) selection {
	s := nothing(dp)
	for i := range dp.Inbounds {
		if pass(inboundName(&dp.Inbounds[i]), dp.Inbounds[i].Tags) {
			s.inbounds[i], s.selected = true, true
		}
	}
	for i := range dp.Listeners {
		if pass(zoneListenerName(&dp.Listeners[i]), dp.Listeners[i].Tags) {
			s.zones[i], s.selected = true, true
		}
	}
	return s
}

// byTags returns the selection of the inbounds, of the gateway or of its listeners, for
// whose tags pass returns true.
func byTags(dp *resource.Dataplane, pass func(tags resource.Tags) bool) selection {
	if listeners := listenersOf(dp); len(listeners) > 0 {
		s := nothing(dp)
		for i := range listeners {
			if pass(listenerTags(dp, &listeners[i])) {
				s.listeners[i], s.selected = true, true
			}
		}
		return s
	}
	if dp.Gateway != nil {
		return selection{selected: pass(dp.Gateway.Tags)}
	}
	return some(dp, func(_ string, tags resource.Tags) bool { return pass(tags) })
}

// selects implements the table of SPEC 2.2.
func (m *mesh) selects(p *resource.Policy, dp *resource.Dataplane) selection {
	switch {
	case m.kumaLike():
		return m.kumaSelects(p, dp)
	case p.Mesh != dp.Mesh:
		return nothing(dp)
	}
	return m.targets(&p.TargetRef, p, dp)
}

// targets returns the part of a dataplane of its mesh that the targetRef of a policy
// selects.
func (m *mesh) targets(ref *resource.TargetRef, p *resource.Policy, dp *resource.Dataplane) selection {
	switch ref.Kind {
	case resource.TargetMesh:
		if ofType(ref, dp) {
			return everything(dp)
		}
	case resource.TargetMeshSubset:
		switch {
		case ofType(ref, dp) && len(ref.Tags) == 0:
			return everything(dp) // like Mesh
		case ofType(ref, dp):
			return byTags(dp, func(tags resource.Tags) bool { return hold(ref.Tags, tags) })
		}
	case resource.TargetDataplane:
		if isDataplane(ref, dp) {
			return sections(ref, dp)
		}
	case resource.TargetMeshService:
		return byTags(dp, func(tags resource.Tags) bool { return isService(ref.Name, tags) })
	case resource.TargetMeshServiceSubset:
		return byTags(dp, func(tags resource.Tags) bool { return isService(ref.Name, tags) && hold(ref.Tags, tags) })
	case resource.TargetMeshGateway:
		if isGateway(ref, dp) {
			return everything(dp)
		}
	case resource.TargetMeshHTTPRoute, resource.TargetMeshTCPRoute:
		return m.routeUsers(p, ref, dp)
	}
	return nothing(dp)
}

// ofType reports whether proxyTypes includes the dataplane's type. Without proxyTypes
// both types are included.
func ofType(ref *resource.TargetRef, dp *resource.Dataplane) bool {
	own := resource.Sidecar
	if dp.Gateway != nil {
		own = resource.Gateway
	}
	return ref.ProxyTypes == 0 || ref.ProxyTypes&own != 0
}

// isDataplane reports whether a dataplane has all labels of a targetRef, or its name. A
// targetRef with neither selects every dataplane.
func isDataplane(ref *resource.TargetRef, dp *resource.Dataplane) bool {
	if ref.Name != "" {
		return ref.Name == dp.Name && inNamespace(ref, &dp.Meta)
	}
	for _, want := range ref.Labels {
		value, present := lookup(dp.Labels, want.Key)
		if !present || value != want.Value {
			return false
		}
	}
	return true
}

// inNamespace reports whether a named object is in the namespace of a targetRef,
// if one is given.
func inNamespace(ref *resource.TargetRef, object *resource.Meta) bool {
	return ref.Namespace == "" || ref.Namespace == object.Namespace
}

// sections narrows a selection to the inbound, or the listener of a zone proxy, of
// sectionName.
func sections(ref *resource.TargetRef, dp *resource.Dataplane) selection {
	if ref.SectionName == "" {
		return everything(dp)
	}
	return some(dp, func(section string, _ resource.Tags) bool { return section == ref.SectionName })
}

func isGateway(ref *resource.TargetRef, dp *resource.Dataplane) bool {
	return dp.Gateway != nil && dp.Gateway.Builtin && inNamespace(ref, &dp.Meta) &&
		isService(ref.Name, dp.Gateway.Tags) && hold(ref.Tags, dp.Gateway.Tags)
}

// routeUsers returns the selection of a policy that is attached to a route: the union
// of the selections of the named routes.
func (m *mesh) routeUsers(p *resource.Policy, ref *resource.TargetRef, dp *resource.Dataplane) selection {
	s := nothing(dp)
	for _, route := range m.policies {
		// A route is attached to dataplanes, never to another route.
		if !m.isRouteOf(p, ref, route) || targetsRoute(route) || !m.takesPart(route, dp) {
			continue
		}
		part := m.selects(route, dp)
		s.selected = s.selected || part.selected
		for i := range part.inbounds {
			s.inbounds[i] = s.inbounds[i] || part.inbounds[i]
		}
		for i := range part.listeners {
			s.listeners[i] = s.listeners[i] || part.listeners[i]
		}
		for i := range part.zones {
			s.zones[i] = s.zones[i] || part.zones[i]
		}
	}
	return s
}

// isRouteOf reports whether a policy is the route in a targetRef of another policy.
func (m *mesh) isRouteOf(from *resource.Policy, ref *resource.TargetRef, p *resource.Policy) bool {
	if m.kumaLike() {
		return m.kumaRoute(from, ref, p)
	}
	switch ref.Kind {
	case resource.TargetMeshHTTPRoute:
		if p.Type.Name != "MeshHTTPRoute" {
			return false
		}
	case resource.TargetMeshTCPRoute:
		if p.Type.Name != "MeshTCPRoute" {
			return false
		}
	default:
		return false
	}
	if len(ref.Labels) > 0 {
		return hasLabels(&p.Meta, ref.Labels)
	}
	return p.Name == ref.Name && inNamespace(ref, &p.Meta)
}

// targetsRoute reports whether a policy applies only to a route (SPEC 4.3).
func targetsRoute(p *resource.Policy) bool {
	switch p.TargetRef.Kind {
	case resource.TargetMeshHTTPRoute, resource.TargetMeshTCPRoute:
		return true
	}
	return false
}
