package check

import (
	"cmp"
	"fmt"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/destination"
	"github.com/meshmatch/meshmatch/core/resource"
)

// checkReference is the hint for a reference if no better one is found.
const checkReference = "check the reference, or load the resource to which it refers"

// nearReference returns what to do about the targetRef of a `to` item that finds no
// destination by its name: another namespace, or another zone, has the name, or a name like
// it is there (SPEC 17.3). Policies that no control plane has stored lack its labels, so a
// name in them finds nothing that was made in a zone.
func (m *meshCheck) nearReference(destinations *destination.Directory, p *resource.Policy, t *resource.TargetRef) string {
	if t.Name == "" {
		return checkReference
	}
	var near *resource.Meta
	var known []string
	for _, d := range destinations.All() {
		of := d.Identity()
		if of.Kind != t.Kind.String() {
			continue
		}
		known = append(known, of.DisplayName())
		if of.DisplayName() == t.Name && (near == nil || nearness(p, t, of) > nearness(p, t, near)) {
			near = of
		}
	}
	switch {
	case near == nil:
		return cmp.Or(diag.DidYouMean(t.Name, known), checkReference)
	case !m.view.Semantics().FindsByName(near, near.HomeNamespace(), near):
		return fmt.Sprintf("names find nothing in %s; write labels: {%s: %s}", m.view.Semantics(), resource.DisplayNameLabel, t.Name)
	case near.Zone() != p.Zone() && near.Zone() == "":
		return fmt.Sprintf("%s is of no zone, and a name finds resources of the zone of its policy; refer by labels", near.Qualified())
	case near.Zone() != p.Zone():
		return fmt.Sprintf("%s is of zone %s, and a name finds resources of the zone of its policy; give the policy the labels %s: zone and %s: %s, as a control plane does, or refer by labels",
			near.Qualified(), near.Zone(), resource.OriginLabel, resource.ZoneTag, near.Zone())
	}
	return fmt.Sprintf("there is %s; write its namespace, or refer by labels", near.Qualified())
}

// nearness is the number of the conditions, besides the name, that a destination meets: the
// namespace and the zone of a reference.
func nearness(p *resource.Policy, t *resource.TargetRef, of *resource.Meta) int {
	met := 0
	if of.Zone() == p.Zone() {
		met++
	}
	if of.HomeNamespace() == cmp.Or(t.Namespace, p.HomeNamespace()) {
		met++
	}
	return met
}

// missesMeshService reports whether a MeshService has the bare name in a `to` item
// that finds neither a service tag of an outbound nor a MeshService.
func (m *meshCheck) missesMeshService(destinations *destination.Directory, p *resource.Policy, t *resource.TargetRef) bool {
	if t.Kind != resource.TargetMeshService || t.RefersToDestination() || destinations == nil || len(destinations.Find(p, t)) > 0 || m.outboundServices()[t.Name] {
		return false
	}
	for _, d := range destinations.All() {
		if of := d.Identity(); of.Kind == resource.MeshServiceKind && of.DisplayName() == t.Name {
			return true
		}
	}
	return false
}

// servicesOfOutbounds returns the services of the outbounds that are given by tags.
func servicesOfOutbounds(dataplanes []*resource.Dataplane) map[string]bool {
	services := map[string]bool{}
	for _, d := range dataplanes {
		for i := range d.Outbounds {
			if d.Outbounds[i].Backend == nil {
				services[d.Outbounds[i].Tags.Value(resource.ServiceTag)] = true
			}
		}
	}
	return services
}
