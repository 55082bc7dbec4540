package naive

import "github.com/meshmatch/meshmatch/core/resource"

// identity returns the MeshIdentity that gives a dataplane its SPIFFE ID (SPEC 11.6), or
// nil. The templates must have no variables.
func (m *mesh) identity(dp *resource.Dataplane) *resource.MeshIdentity {
	for _, i := range m.identities {
		if i.Spec.Selector == nil || i.Spec.Selector.Dataplane == nil {
			continue
		}
		selected := true
		for key, want := range i.Spec.Selector.Dataplane.MatchLabels {
			value, present := lookup(dp.Labels, key)
			selected = selected && present && value == want
		}
		if selected {
			return i
		}
	}
	return nil
}

// spiffeID returns the SPIFFE ID of a dataplane, or "" if it has none.
func (m *mesh) spiffeID(dp *resource.Dataplane) string {
	i := m.identity(dp)
	if i == nil {
		return ""
	}
	trustDomain, path := dp.Mesh+".mesh.local", "/dataplane/"+dp.Name
	if zone, _ := lookup(dp.Labels, "kuma.io/zone"); zone != "" && m.kumaLike() {
		trustDomain = dp.Mesh + "." + zone + ".mesh.local"
	}
	if workload, _ := lookup(dp.Labels, "kuma.io/workload"); workload != "" && m.kumaLike() {
		path = "/workload/" + workload
	}
	if account, present := lookup(dp.Labels, "k8s.kuma.io/service-account"); present && dp.Namespace != "" {
		path = "/ns/" + dp.Namespace + "/sa/" + account
	}
	if template := i.Spec.SpiffeID; template != nil {
		if template.TrustDomain != nil {
			trustDomain = string(*template.TrustDomain)
		}
		if template.Path != nil {
			path = string(*template.Path)
		}
	}
	return "spiffe://" + trustDomain + path
}

// permitsAll reports whether no permission is applied to a dataplane (SPEC 17.1).
func (m *mesh) permitsAll(dp *resource.Dataplane) bool {
	if !m.kumaLike() || m.identity(dp) != nil {
		return false
	}
	if m.kuma3() || m.document == nil || m.document.Spec.MTLS == nil {
		return true
	}
	mtls := m.document.Spec.MTLS
	for _, backend := range mtls.Backends {
		if mtls.EnabledBackend != "" && backend.Name == mtls.EnabledBackend {
			return false
		}
	}
	return true
}
