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
func (s Semantics) FindsByName(from *resource.Meta, namespace string, o *resource.Meta) bool {
	return s.reader().findsByName(from, namespace, o)
}

// ServiceName returns the parts of the name of a MeshService in the form
// NAME_NAMESPACE_svc_PORT or NAME_NAMESPACE_svc, with 0 for no port. It returns false for
// other names, and if the semantics does not have the form.
func (s Semantics) ServiceName(text string) (name, namespace string, port uint32, ok bool) {
	if !s.reader().hasServiceNames() {
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
// reference to the port of a destination; "" if no section selects the outbound.
func (s Semantics) ListedSection(port resource.DestinationPort) string {
	return s.reader().listedSection(port)
}

// Refused returns the field for which a control plane refuses a destination, so that the
// mesh has no such destination; "" if it has it. Kuma 3 refuses certificates in the form
// of Kuma 2.
func (s Semantics) Refused(d resource.Destination) (path string) { return s.reader().refused(d) }

// RouteBackend returns the reference of a backend of a route policy as it is resolved. In
// Kuma 3 the name of a destination without a namespace has the namespace of the route.
func (s Semantics) RouteBackend(route *resource.Policy, ref *resource.BackendRef) *resource.BackendRef {
	return s.reader().routeBackend(route, ref)
}

// ReachesAll reports whether a transparent proxy without references to destinations
// reaches all destinations; otherwise it reaches none.
func (s Semantics) ReachesAll(mesh *resource.Mesh, p *resource.TransparentProxy) bool {
	return s.reader().reachesAll(mesh, p)
}

// RankedItem is a `to` item, with a rank that is compared before names. A dataplane may
// have thousands of items, so the rank is computed once for each.
type RankedItem struct {
	results.Origin
	rank uint64
}

// RankItem returns a `to` item with its rank. It reports whether the item may apply to
// outbounds of destinations and to their routes.
func (s Semantics) RankItem(o results.Origin) (item RankedItem, applies bool) {
	rank, applies := s.reader().rankItem(o)
	return RankedItem{o, rank}, applies
}

// CompareItems compares `to` items of two policies of one kind, or of one policy, that
// may apply to outbounds of destinations: it is negative if b overrides a. The order of
// an embedder is used by [TargetRef] alone.
func (r Reading) CompareItems(a, b *RankedItem) int {
	switch {
	case a.rank != b.rank:
		return cmp.Compare(a.rank, b.rank)
	case a.Policy == b.Policy:
		return cmp.Compare(a.Index, b.Index)
	}
	return r.Semantics.reader().compareItems(a, b, r.Order)
}

// RoutesHaveOutboundItems reports whether the items that select an outbound of a
// destination contribute to the confs of its routes. If not, the conf of a route is the
// merge of the items for every outbound and the items that refer to the route. If no item
// refers to the route, it is the conf of its outbound.
func (s Semantics) RoutesHaveOutboundItems() bool { return s.reader().routesHaveOutboundItems() }

// The semantics of SPEC 1 to 9 compares the names and namespaces in the
// documents, and has the order of SPEC 4.1.

func (targetRef) findsByName(_ *resource.Meta, namespace string, o *resource.Meta) bool {
	return namespace == "" || namespace == o.Namespace
}

func (targetRef) hasServiceNames() bool { return false }

func (targetRef) refused(resource.Destination) string { return "" }

func (targetRef) routeBackend(_ *resource.Policy, ref *resource.BackendRef) *resource.BackendRef {
	return ref
}

func (targetRef) listedSection(port resource.DestinationPort) string { return port.SectionName() }

func (targetRef) reachesAll(mesh *resource.Mesh, p *resource.TransparentProxy) bool {
	return kuma{}.reachesAll(mesh, p)
}

func (targetRef) rankItem(results.Origin) (uint64, bool) { return 0, true }

func (t targetRef) compareItems(a, b *RankedItem, order results.Order) int {
	if order == nil {
		order = t.compare
	}
	return order(a.Policy, b.Policy)
}

func (targetRef) routesHaveOutboundItems() bool { return true }

// The semantics of Kuma compares display names, and has a separate order of
// items.

// findsByName compares the parts of KRIs. A reference finds a destination that was made
// in the zone and the namespace of the reference's own resource, or in the namespace of
// the reference.
func (k kuma) findsByName(from *resource.Meta, namespace string, o *resource.Meta) bool {
	return !k.labelsOnly && from.Zone() == o.Zone() && cmp.Or(namespace, from.HomeNamespace()) == o.HomeNamespace()
}

func (k kuma) hasServiceNames() bool { return !k.labelsOnly }

func (k kuma) refused(d resource.Destination) string {
	external, is := d.(*resource.MeshExternalService)
	if !is || !k.labelsOnly || external.Spec.TLS == nil || external.Spec.TLS.Verification == nil {
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

func (k kuma) routeBackend(route *resource.Policy, ref *resource.BackendRef) *resource.BackendRef {
	_, named := ref.Labels.Get(resource.DisplayNameLabel)
	_, placed := ref.Labels.Get(resource.NamespaceLabel)
	namespace := route.HomeNamespace()
	if !k.labelsOnly || !named || placed || namespace == "" {
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

// listedSection is the number, and none for a port with a name: Kuma compares sections with
// names and the outbound has the number, so no section selects it.
func (kuma) listedSection(port resource.DestinationPort) string {
	if port.Name != "" {
		return ""
	}
	return strconv.FormatUint(uint64(port.Number), 10)
}

// IsOfOtherZone reports whether a destination is an external service that another zone made. A
// control plane of Kuma sends none from zone to zone.
func (s Semantics) IsOfOtherZone(d resource.Destination, zone string) bool {
	external, is := d.(*resource.MeshExternalService)
	return is && s != TargetRef && zone != "" && external.Zone() != "" && external.Zone() != zone
}

// ReachesEachPort reports whether a reference of reachableBackends without a port finds all
// ports of a destination, and one by labels and a port all destinations that have it. Kuma
// finds all ports only if each has a name, otherwise the first one without a name; and of
// several destinations one.
func (s Semantics) ReachesEachPort() bool { return s == TargetRef }

func (k kuma) reachesAll(mesh *resource.Mesh, p *resource.TransparentProxy) bool {
	return k.labelsOnly || mesh.ServicesMode() != specs.MeshServicesByReference && (p == nil || len(p.ReachableServices) == 0)
}

// rankItem omits the items of policies that are attached to a route.
func (k kuma) rankItem(o results.Origin) (rank uint64, applies bool) {
	if o.Policy.TargetRef.Kind.IsRoute() {
		return 0, false
	}
	return k.itemRank(o), true
}

// compareItems is the order of policies, except that the targetRefs of items are compared
// before names, which the ranks did. It does not compare the tags of gateways.
func (kuma) compareItems(a, b *RankedItem, _ results.Order) int {
	return compareNames(a.Policy, b.Policy)
}

// itemRank returns a number that contains, from the highest bits down, the level of the
// top-level targetRef, the origin and the role of the policy, and the rank of the item's
// targetRef. The latter is the kind, whose constants are in the order of priority; a
// MeshService with a section ranks after one without.
func (k kuma) itemRank(o results.Origin) uint64 {
	top, target := &o.Policy.TargetRef, &o.Policy.To[o.Index].TargetRef
	dataplane := top.Kind == resource.TargetDataplane
	rank := uint64(kumaLevel(top.Kind))
	rank = rank<<1 | bit(dataplane && !k.labelsOnly && top.Name != "")
	rank = rank<<1 | bit(dataplane && top.SectionName != "")
	rank = rank<<8 | uint64(o.Policy.Origin())
	rank = rank<<8 | uint64(k.role(o.Policy))
	rank = rank<<8 | uint64(target.Kind)
	return rank<<1 | bit(target.Kind == resource.TargetMeshService && target.SectionName != "")
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func (kuma) routesHaveOutboundItems() bool { return false }
