package inspect

import (
	"fmt"
	"slices"

	"github.com/meshmatch/meshmatch/core/destination"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/resource"
)

// unresolved warns of `to` items that refer to destinations, and to routes by labels, and
// find none (SPEC 17.3), and of outbounds that a dataplane lists by such a reference.
func (m *meshCheck) unresolved() []diag.Diagnostic {
	destinations := m.view.Destinations(m.mesh)
	var warnings []diag.Diagnostic
	for _, p := range m.policies {
		for i := range p.To {
			if why := m.unresolvedItem(destinations, p, &p.To[i].TargetRef); why != "" {
				warnings = append(warnings, diag.Diagnostic{
					Pos: p.To[i].Pos, Path: fmt.Sprintf("spec.to[%d].targetRef", i),
					What: why + ", so the item has no effect", Hint: "check the reference, or give the files of what it refers to",
				})
			}
		}
	}
	for _, d := range m.dataplanes {
		for i := range d.Outbounds {
			if backend := d.Outbounds[i].Backend; backend != nil && !destinations.Resolves(d, backend) {
				warnings = append(warnings, diag.Diagnostic{
					Pos: d.Pos, Path: fmt.Sprintf("networking.outbound[%d].backendRef", i),
					What: fmt.Sprintf("no port of a %s is found, so %s has no such outbound", backend.Kind, d.Name), Hint: "check the reference and its port",
				})
			}
		}
	}
	return warnings
}

// unresolvedItem returns why the targetRef of a `to` item finds nothing, or "". The name
// of a MeshService may be that of a service by its tag.
func (m *meshCheck) unresolvedItem(destinations *destination.Set, p *resource.Policy, t *resource.TargetRef) string {
	if t.Kind.IsRoute() && len(t.Labels) > 0 {
		refers := func(route *resource.Policy) bool { return m.view.Semantics().RefersToRoute(p, t, route) }
		if !slices.ContainsFunc(m.policies, refers) {
			return fmt.Sprintf("no %s has the labels %s", t.Kind, t.Labels)
		}
	}
	if !t.RefersToDestination() {
		return ""
	}
	found := destinations.Find(p, t)
	if len(found) == 0 {
		return fmt.Sprintf("no %s is found", t.Kind)
	}
	for _, f := range found {
		if f.Section == "" {
			return ""
		}
		for _, port := range f.Destination.Ports() {
			if port.SectionName() == f.Section {
				return ""
			}
		}
	}
	return fmt.Sprintf("the %s has no port %q; a port with a name is selected by its name", t.Kind, t.SectionName)
}
