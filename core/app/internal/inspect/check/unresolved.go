package check

import (
	"fmt"
	"slices"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/destination"
	"github.com/meshmatch/meshmatch/core/resource"
)

// unresolved warns of references that find nothing (SPEC 17.3): in `to` items, to
// destinations or by labels to routes, and in dataplanes.
func (m *meshCheck) unresolved() {
	destinations := m.view.Destinations(m.mesh)
	for _, p := range m.policies {
		for i := range p.To {
			t := &p.To[i].TargetRef
			if why, hint := m.unresolvedItem(destinations, p, t); why != "" {
				m.warn(diag.Diagnostic{
					Code: diag.UnresolvedReference, Pos: p.To[i].Pos, Path: fmt.Sprintf("spec.to[%d].targetRef", i),
					What: why + ", so the item has no effect", Hint: hint,
					Cause: fmt.Sprintln(why, t.Kind, t.Namespace, t.Name, t.Labels, t.SectionName),
				})
			}
		}
	}
	m.unreachable(destinations)
	m.missedPorts(destinations)
	m.unresolvedBackends(destinations)
}

// unresolvedBackends warns of references to destinations in outbounds and
// reachableBackends that find none. Dataplanes with the same reference at the same
// place share one warning.
func (m *meshCheck) unresolvedBackends(destinations *destination.Directory) {
	more := map[string]int{} // by the text of the warning: the number of further dataplanes
	first := map[string]int{}
	add := func(d *resource.Dataplane, path, what, hint string, ref *resource.BackendRef) {
		key := fmt.Sprint(path, what, *ref)
		if _, known := first[key]; known {
			more[key]++
			return
		}
		first[key] = len(m.warnings)
		m.warn(diag.Diagnostic{Code: diag.UnresolvedReference, Pos: d.Pos, Path: path, What: fmt.Sprintf("%s: %s", what, d.Qualified()), Hint: hint})
	}
	for _, d := range m.dataplanes {
		for i := range d.Outbounds {
			if backend := d.Outbounds[i].Backend; backend != nil && !destinations.Resolves(d, backend) {
				add(d, fmt.Sprintf("networking.outbound[%d].backendRef", i),
					fmt.Sprintf("no port of a %s is found, so there is no such outbound", backend.Kind), "check the reference and its port", backend)
			}
		}
		if d.TransparentProxy == nil {
			continue
		}
		for i := range d.TransparentProxy.ReachableBackends {
			backend, path := &d.TransparentProxy.ReachableBackends[i], fmt.Sprintf("networking.transparentProxying.reachableBackends.refs[%d]", i)
			if !destinations.Reaches(d, backend) {
				add(d, path, fmt.Sprintf("no %s is found, so nothing is reached by it", backend.Kind), "check the reference and its port", backend)
			} else if reached, missed := destinations.Missed(d, backend); missed != nil {
				add(d, path, fmt.Sprintf("a reference by labels and port reaches one %s: %s, the first by namespace and name, and not %s", backend.Kind, reached.Identity().Qualified(), missed.Identity().Qualified()),
					"write a reference for each, or leave the port out", backend)
			}
		}
	}
	for key, n := range more {
		m.warnings[first[key]].What += fmt.Sprintf(" and %d more", n)
	}
}

// missedPorts warns of `to` items that name a port and miss an outbound that a
// dataplane lists. The section of the outbound is the number of the port (SPEC 17.3).
func (m *meshCheck) missedPorts(destinations *destination.Directory) {
	type port struct {
		destination resource.Destination
		section     string
	}
	listing := map[port][]*resource.Dataplane{}
	for _, d := range m.dataplanes {
		if !slices.ContainsFunc(d.Outbounds, func(o resource.Outbound) bool { return o.Backend != nil }) {
			continue
		}
		for _, o := range m.view.DestinationOutbounds(d) {
			if named := o.Port.SectionName(); o.Section != named {
				listing[port{o.Destination, named}] = append(listing[port{o.Destination, named}], d)
			}
		}
	}
	if len(listing) == 0 {
		return
	}
	for _, p := range m.policies {
		for i := range p.To {
			for _, found := range destinations.Find(p, &p.To[i].TargetRef) {
				d := m.firstSelected(p, listing[port{found.Destination, found.Section}])
				if d == nil {
					continue
				}
				m.warn(diag.Diagnostic{
					Code: diag.MissedPort, Pos: p.To[i].Pos, Path: fmt.Sprintf("spec.to[%d].targetRef.sectionName", i),
					What: fmt.Sprintf("misses the outbound of %s to %s, which selects its port by its number",
						d.Qualified(), found.Destination.Identity().Qualified()),
					Hint: "leave sectionName out, or let the dataplane reach it by transparent proxying",
				})
				break
			}
		}
	}
}

// firstSelected returns the first of the dataplanes that a policy selects, or nil.
func (m *meshCheck) firstSelected(p *resource.Policy, dataplanes []*resource.Dataplane) *resource.Dataplane {
	for _, d := range dataplanes {
		config, err := m.view.Config(d, p.Kind, core.Shadow)
		if err != nil {
			continue
		}
		for _, selected := range config.Matched.All() {
			if selected.Policy == p {
				return d
			}
		}
	}
	return nil
}

// unresolvedItem returns the reason why the targetRef of a `to` item finds nothing, with a
// hint, or "". The name of a MeshService may also match a service tag.
func (m *meshCheck) unresolvedItem(destinations *destination.Directory, p *resource.Policy, t *resource.TargetRef) (why, hint string) {
	if t.Kind.IsRoute() && len(t.Labels) > 0 {
		refers := func(route *resource.Policy) bool { return m.view.Semantics().RefersToRoute(p, t, route) }
		if !slices.ContainsFunc(m.policies, refers) {
			return fmt.Sprintf("no %s has the labels %s", t.Kind, t.Labels), checkReference
		}
	}
	if m.missesMeshService(destinations, p, t) {
		return fmt.Sprintf("no %s is found", t.Kind), m.nearReference(destinations, p, t)
	}
	if !t.RefersToDestination() {
		return "", ""
	}
	found := destinations.Find(p, t)
	if len(found) == 0 {
		return fmt.Sprintf("no %s is found", t.Kind), m.nearReference(destinations, p, t)
	}
	for _, f := range found {
		if f.Section == "" {
			return "", ""
		}
		for _, port := range f.Destination.Ports() {
			if port.SectionName() == f.Section {
				return "", ""
			}
		}
	}
	return fmt.Sprintf("the %s has no port %q; a port with a name is selected by its name", t.Kind, t.SectionName), checkReference
}
