package items

import (
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Refers reports whether a reference in the resource from, by a name or by labels, refers to
// a destination of its kind (SPEC 17.3).
func Refers(s semantics.Semantics, from *resource.Meta, name, namespace string, labels resource.Tags, d *resource.Meta) bool {
	if len(labels) > 0 { // a control plane of Kuma does not read a name beside them
		return d.HasLabels(labels)
	}
	return name != "" && name == s.ReferenceName(d) && s.FindsByName(from, namespace, d)
}

// Finds reports whether an item of a policy, with the targetRef t, refers to a destination,
// and returns the section of the port that it selects; empty: all ports. The destination
// need not have such a port.
func Finds(s semantics.Semantics, p *resource.Policy, t *resource.TargetRef, d resource.Destination) (section string, finds bool) {
	if KindOf(d) != t.Kind {
		return "", false
	}
	if Refers(s, &p.Meta, t.Name, t.Namespace, t.Labels, d.Identity()) {
		return t.SectionName, true
	}
	name, namespace, number, is := serviceName(s, t)
	if !is || !Refers(s, &p.Meta, name, namespace, nil, d.Identity()) {
		return "", false
	}
	if number == 0 {
		return "", true
	}
	port, has := PortOf(d, number)
	return port.SectionName(), has
}

// serviceName returns the parts of a name in the form of [semantics.Semantics.ServiceName].
func serviceName(s semantics.Semantics, t *resource.TargetRef) (name, namespace string, number uint32, ok bool) {
	if t.Kind != resource.TargetMeshService || t.SectionName != "" || t.Name == "" {
		return "", "", 0, false
	}
	return s.ServiceName(t.Name)
}

// KindOf returns the kind of the targetRefs that refer to a destination.
func KindOf(d resource.Destination) resource.TargetKind {
	switch d.(type) {
	case *resource.MeshExternalService:
		return resource.TargetMeshExternalService
	case *resource.MeshMultiZoneService:
		return resource.TargetMeshMultiZoneService
	}
	return resource.TargetMeshService
}

// PortOf returns the port with a number; for 0 it returns the only port.
func PortOf(d resource.Destination, number uint32) (port resource.DestinationPort, has bool) {
	ports := d.Ports()
	if number == 0 && len(ports) == 1 {
		return ports[0], true
	}
	for _, port := range ports {
		if port.Number == number {
			return port, true
		}
	}
	return port, false
}
