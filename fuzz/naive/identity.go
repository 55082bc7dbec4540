package naive

import (
	"regexp"

	"github.com/meshmatch/meshmatch/core/resource"
)

// variable is a label or a variable of a template.
var variable = regexp.MustCompile(`{{ *(?:label "([^"]*)"|\.([A-Za-z]+)) *}}`)

// identity returns the MeshIdentity that gives a dataplane its SPIFFE ID (SPEC 11.6), or
// nil.
func (m *mesh) identity(dp *resource.Dataplane) *resource.MeshIdentity {
	var most *resource.MeshIdentity // with the most labels, then the first by name
	for _, i := range m.identities {
		if i.Spec.Selector == nil || i.Spec.Selector.Dataplane == nil {
			continue
		}
		selected := !m.kumaLike() || !inDifferentZones(&i.Meta, &dp.Meta)
		for key, want := range i.Spec.Selector.Dataplane.MatchLabels {
			value, present := lookup(dp.Labels, key)
			selected = selected && present && value == want
		}
		if selected && (most == nil || len(i.Spec.Selector.Dataplane.MatchLabels) > len(most.Spec.Selector.Dataplane.MatchLabels)) {
			most = i
		}
	}
	return most
}

// spiffeID returns the SPIFFE ID of a dataplane, or "" if it has none.
func (m *mesh) spiffeID(dp *resource.Dataplane) string {
	i := m.identity(dp)
	if i == nil {
		return ""
	}
	trustDomain, path := dp.Mesh+".mesh.local", "/dataplane/"+dp.Name
	zone, _ := lookup(i.Labels, "kuma.io/zone") // of the MeshIdentity, in Kuma
	if zone == "" {
		zone, _ = lookup(dp.Labels, "kuma.io/zone")
	}
	if zone != "" && m.kumaLike() {
		trustDomain = dp.Mesh + "." + zone + ".mesh.local"
	}
	if workload, _ := lookup(dp.Labels, "kuma.io/workload"); workload != "" && m.kumaLike() {
		path = "/workload/" + workload
	}
	namespace, labelled := lookup(dp.Labels, "k8s.kuma.io/namespace")
	if !labelled {
		namespace = dp.Namespace
	}
	if account, present := lookup(dp.Labels, "k8s.kuma.io/service-account"); present && namespace != "" {
		path = "/ns/" + namespace + "/sa/" + account
	}
	if template := i.Spec.SpiffeID; template != nil {
		workload, _ := lookup(dp.Labels, "kuma.io/workload")
		account, _ := lookup(dp.Labels, "k8s.kuma.io/service-account")
		home, _ := lookup(dp.Labels, "kuma.io/zone")
		variables := map[string]string{"Mesh": dp.Mesh, "Zone": home, "Name": dp.Name, "Namespace": namespace, "ServiceAccount": account, "Workload": workload}
		if template.Path != nil {
			path = fillTemplate(string(*template.Path), dp.Labels, variables)
		}
		if template.TrustDomain != nil {
			labels := dp.Labels
			if m.kumaLike() {
				labels = i.Labels
				variables["Zone"] = zone
			}
			trustDomain = fillTemplate(string(*template.TrustDomain), labels, variables)
		}
	}
	return "spiffe://" + trustDomain + path
}

// fillTemplate returns the text of a template (SPEC 11.6).
func fillTemplate(template string, labels resource.Tags, variables map[string]string) string {
	return variable.ReplaceAllStringFunc(template, func(text string) string {
		parts := variable.FindStringSubmatch(text)
		if parts[1] != "" {
			value, _ := lookup(labels, parts[1])
			return value
		}
		return variables[parts[2]]
	})
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
