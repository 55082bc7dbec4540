package semantics

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/meshmatch/meshmatch/core/internal/specs"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// FindsByName reports whether a reference by name, in a policy or a dataplane, finds a
// destination whose [Semantics.ReferenceName] is the name of the reference. The
// namespace is empty if the reference has none.
//
// Kuma 2 compares the parts of KRIs: a reference finds a destination that was made in the zone
// and the namespace of the reference's own resource, or in the namespace of the reference.
func (s Semantics) FindsByName(from *resource.Meta, namespace string, o *resource.Meta) bool {
	if !s.isKuma() {
		return namespace == "" || namespace == o.Namespace
	}
	return s == Kuma && from.Zone() == o.Zone() && cmp.Or(namespace, from.HomeNamespace()) == o.HomeNamespace()
}

// ServiceName returns the parts of the name of a MeshService in the form
// NAME_NAMESPACE_svc_PORT or NAME_NAMESPACE_svc, with 0 for no port. It returns false for
// other names, and if the semantics does not have the form.
func (s Semantics) ServiceName(text string) (name, namespace string, port uint32, ok bool) {
	if s != Kuma {
		return "", "", 0, false
	}
	parts := strings.Split(text, "_")
	if len(parts) < 3 || len(parts) > 4 || parts[2] != "svc" {
		return "", "", 0, false
	}
	if len(parts) == 4 {
		number, err := strconv.ParseUint(parts[3], 10, 16)
		if err != nil || strconv.FormatUint(number, 10) != parts[3] {
			return "", "", 0, false
		}
		port = uint32(number)
	}
	return parts[0], parts[1], port, true
}

// ListedSection returns the section of an outbound that a dataplane lists with a
// reference to the port of a destination; "" if no section selects the outbound. In Kuma the
// outbound has the number of the port, and sections are compared with names.
func (s Semantics) ListedSection(port resource.DestinationPort) string {
	switch {
	case !s.isKuma():
		return port.SectionName()
	case port.Name != "":
		return ""
	}
	return strconv.FormatUint(uint64(port.Number), 10)
}

// Refused returns the field for which a control plane refuses a destination, so that the
// mesh has no such destination; "" if it has it. Kuma 3 refuses certificates in the form
// of Kuma 2.
func (s Semantics) Refused(d resource.Destination) (path string) {
	external, is := d.(*resource.MeshExternalService)
	if !is || s != Kuma3 || external.Spec.TLS == nil || external.Spec.TLS.Verification == nil {
		return ""
	}
	v := external.Spec.TLS.Verification
	for _, part := range []struct {
		field       string
		certificate *specs.Certificate
	}{{"caCert", v.CACert}, {"clientCert", v.ClientCert}, {"clientKey", v.ClientKey}} {
		if part.certificate != nil && part.certificate.Type == "" {
			return "spec.tls.verification." + part.field
		}
	}
	return ""
}

// RouteBackend returns the reference of a backend of a route policy as it is resolved. In
// Kuma 3 the name of a destination without a namespace has the namespace of the route.
func (s Semantics) RouteBackend(route *resource.Policy, ref *resource.BackendRef) *resource.BackendRef {
	if s != Kuma3 {
		return ref
	}
	_, named := ref.Labels.Get(resource.DisplayNameLabel)
	_, placed := ref.Labels.Get(resource.NamespaceLabel)
	namespace := route.HomeNamespace()
	if !named || placed || namespace == "" {
		return ref
	}
	labels := map[string]string{resource.NamespaceLabel: namespace}
	for _, label := range ref.Labels {
		labels[label.Key] = label.Value
	}
	next := *ref
	next.Labels = resource.NewTags(labels)
	return &next
}

// ReachesAll reports whether a transparent proxy without references to destinations
// reaches all destinations; otherwise it reaches none.
func (s Semantics) ReachesAll(mesh *resource.Mesh, p *resource.TransparentProxy) bool {
	return s == Kuma3 || mesh.ServicesMode() != specs.MeshServicesByReference && (p == nil || len(p.ReachableServices) == 0)
}

// RankedItem is a `to` item, with a rank that is compared before names. A dataplane may
// have thousands of items, so the rank is computed once for each.
type RankedItem struct {
	results.Origin
	rank uint64
}

// RankItem returns a `to` item with its rank. It reports whether the item may apply to
// outbounds of destinations and to their routes. In Kuma, no item of a policy that is attached to a
// route does.
func (s Semantics) RankItem(o results.Origin) (item RankedItem, applies bool) {
	switch {
	case !s.isKuma():
		return RankedItem{Origin: o}, true
	case o.Policy.TargetRef.Kind.IsRoute():
		return RankedItem{Origin: o}, false
	}
	return RankedItem{o, s.itemRank(o)}, true
}

// CompareItems compares `to` items of two policies of one kind, or of one policy, that
// may apply to outbounds of destinations: it is negative if b overrides a. Kuma compares the
// targetRefs of items before names, which the ranks did, and not the tags of gateways. The order
// of an embedder is used by [TargetRef] alone.
func (r Reading) CompareItems(a, b *RankedItem) int {
	switch {
	case a.rank != b.rank:
		return cmp.Compare(a.rank, b.rank)
	case a.Policy == b.Policy:
		return cmp.Compare(a.Index, b.Index)
	case r.Semantics.isKuma():
		return compareNames(a.Policy, b.Policy)
	case r.Order != nil:
		return r.Order(a.Policy, b.Policy)
	}
	return results.DefaultOrder(a.Policy, b.Policy)
}

// RoutesHaveOutboundItems reports whether the items that select an outbound of a
// destination contribute to the confs of its routes. If not, the conf of a route is the
// merge of the items for every outbound and the items that refer to the route. If no item
// refers to the route, it is the conf of its outbound.
func (s Semantics) RoutesHaveOutboundItems() bool { return !s.isKuma() }

// IsOfOtherZone reports whether a destination is an external service that another zone made. A
// control plane of Kuma sends none from zone to zone.
func (s Semantics) IsOfOtherZone(d resource.Destination, zone string) bool {
	external, is := d.(*resource.MeshExternalService)
	return is && s != TargetRef && zone != "" && external.Zone() != "" && external.Zone() != zone
}

// ReachesEachPort reports whether a reference of reachableBackends without a port finds all
// ports of a destination. If so, one by labels and a port also finds all destinations that
// have it. Kuma finds all ports only if each has a name, otherwise the first one without a
// name; and of several destinations one.
func (s Semantics) ReachesEachPort() bool { return s == TargetRef }

// itemRank returns a number for the order of items. From the highest bits down it
// contains the top-level targetRef's level, the policy's origin and role, and the rank
// of the item's targetRef. The latter is the kind, whose constants are in the order of
// priority; a MeshService with a section ranks after one without.
func (s Semantics) itemRank(o results.Origin) uint64 {
	top, target := &o.Policy.TargetRef, &o.Policy.To[o.Index].TargetRef
	dataplane := top.Kind == resource.TargetDataplane
	rank := uint64(kumaLevel(top.Kind))
	rank = rank<<1 | bit(dataplane && s == Kuma && top.Name != "")
	rank = rank<<1 | bit(dataplane && top.SectionName != "")
	rank = rank<<8 | uint64(o.Policy.Origin())
	rank = rank<<8 | uint64(s.role(o.Policy))
	rank = rank<<8 | uint64(target.Kind)
	return rank<<1 | bit(target.Kind == resource.TargetMeshService && target.SectionName != "")
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
