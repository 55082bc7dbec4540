package naive

import (
	"fmt"
	"sort"
	"strings"

	"github.com/meshmatch/meshmatch/core/resource"
)

// This file implements the outbounds of destinations (SPEC 17.3). It precomputes
// nothing: each question goes through all destinations and all items.

// target is an outbound of a dataplane that is a port of a destination.
type target struct {
	destination resource.Destination
	section     string // the section by which items select the port
	answer      map[string]any
}

// destinationTargets returns the outbounds of destinations that a dataplane has.
func (m *mesh) destinationTargets(dp *resource.Dataplane) []target {
	if m.transparent(dp) {
		return m.virtualTargets(dp)
	}
	return m.listedTargets(dp)
}

// transparent reports whether there is transparent proxying: the document has it, or
// the dataplane comes from Kubernetes.
func (m *mesh) transparent(dp *resource.Dataplane) bool {
	if dp.TransparentProxy != nil {
		return true
	}
	builtin := dp.Gateway != nil && dp.Gateway.Builtin
	workload := dp.Gateway != nil || len(dp.Inbounds) > 0
	return dp.Namespace != "" && workload && !builtin
}

// listedTargets resolves the references in the list of outbounds.
func (m *mesh) listedTargets(dp *resource.Dataplane) []target {
	var list []target
	for i := range dp.Outbounds {
		out := &dp.Outbounds[i]
		if out.Backend == nil {
			continue
		}
		var oldest resource.Destination
		for _, d := range m.destinations { // sorted by identity
			if m.backendFinds(dp, out.Backend, d) && (oldest == nil || d.Created().Before(oldest.Created())) {
				oldest = d
			}
		}
		if oldest == nil {
			continue
		}
		for _, port := range oldest.Ports() {
			only := out.Backend.Port == 0 && len(oldest.Ports()) == 1
			if port.Number != out.Backend.Port && !only {
				continue
			}
			if m.madeInOtherZone(oldest, dp) {
				continue
			}
			section := portSection(port)
			if m.kumaLike() && port.Name != "" {
				section = "" // which no item has
			}
			list = append(list, target{oldest, section, m.describeTarget(out.Address, out.Port, oldest, port)})
		}
	}
	return list
}

func portSection(port resource.DestinationPort) string {
	if port.Name != "" {
		return port.Name
	}
	return fmt.Sprint(port.Number)
}

func (m *mesh) describeTarget(address string, port uint32, d resource.Destination, of resource.DestinationPort) map[string]any {
	answer := map[string]any{"port": int(port), "destination": m.kri(shortOf(d), d.Identity())}
	if address != "" {
		answer["address"] = address
	}
	if of.Name != "" {
		answer["name"] = of.Name
	}
	return answer
}

func shortOf(d resource.Destination) string {
	return map[string]string{"MeshService": "msvc", "MeshExternalService": "extsvc", "MeshMultiZoneService": "mzsvc"}[d.Identity().Kind]
}

// virtualTargets returns a target for each port of each destination with a virtual
// address. The filters of the dataplane and the mode of the mesh must allow it.
func (m *mesh) virtualTargets(dp *resource.Dataplane) []target {
	var list []target
	for _, d := range m.destinations {
		if len(d.State().VIPs) == 0 {
			continue
		}
		if m.madeInOtherZone(d, dp) {
			continue
		}
		vip := d.State().VIPs[0].String()
		for _, port := range d.Ports() {
			if m.reaches(dp, d, port) && !servesAt(dp, vip, port.Number) {
				list = append(list, target{d, portSection(port), m.describeTarget(vip, port.Number, d, port)})
			}
		}
	}
	return list
}

// servesAt reports whether an inbound of the dataplane has the address and port.
func servesAt(dp *resource.Dataplane, address string, port uint32) bool {
	for _, in := range dp.Inbounds {
		own := in.Address
		if own == "" {
			own = dp.Address
		}
		if own == address && in.Port == port {
			return true
		}
	}
	return false
}

// reaches implements the table of filters.
func (m *mesh) reaches(dp *resource.Dataplane, d resource.Destination, port resource.DestinationPort) bool {
	limited := false
	allows := func(ref *resource.BackendRef) bool {
		limited = true
		if !m.backendFinds(dp, ref, d) {
			return false
		}
		if !m.kumaLike() {
			return ref.Port == 0 || ref.Port == port.Number
		}
		if ref.Port != 0 {
			return ref.Port == port.Number && (ref.Name != "" || m.isFirstWithPort(dp, ref, d))
		}
		for _, p := range d.Ports() {
			if p.Name == "" {
				return p.Number == port.Number
			}
		}
		return true
	}
	proxy := dp.TransparentProxy
	if proxy != nil && proxy.ReachableBackends != nil {
		limited = true
		for i := range proxy.ReachableBackends {
			if allows(&proxy.ReachableBackends[i]) {
				return true
			}
		}
	}
	for i := range dp.Outbounds {
		if ref := dp.Outbounds[i].Backend; ref != nil && allows(ref) {
			return true
		}
	}
	if limited {
		return false
	}
	if m.kuma3() {
		return true
	}
	byReference := m.document != nil && m.document.Spec.MeshServices != nil && m.document.Spec.MeshServices.Mode == "ReachableBackends"
	return !byReference && (proxy == nil || len(proxy.ReachableServices) == 0)
}

// isFirstWithPort reports whether no destination before d, by identity, is found by the same
// reference and has its port.
func (m *mesh) isFirstWithPort(dp *resource.Dataplane, ref *resource.BackendRef, d resource.Destination) bool {
	for _, other := range m.destinations {
		if other == d {
			return true
		}
		if m.madeInOtherZone(other, dp) || !m.backendFinds(dp, ref, other) {
			continue
		}
		for _, port := range other.Ports() {
			if port.Number == ref.Port {
				return false
			}
		}
	}
	return true
}

// madeInOtherZone reports whether a destination is an external service of another zone than
// the dataplane's, which Kuma never sends to that zone.
func (m *mesh) madeInOtherZone(d resource.Destination, dp *resource.Dataplane) bool {
	own, of := madeInZone(&dp.Meta), madeInZone(d.Identity())
	return m.kumaLike() && d.Identity().Kind == "MeshExternalService" && own != "" && of != "" && own != of
}

// backendFinds reports whether a reference of a dataplane finds a destination.
func (m *mesh) backendFinds(dp *resource.Dataplane, ref *resource.BackendRef, d resource.Destination) bool {
	return m.finds(&dp.Meta, ref.Kind.String(), ref.Name, ref.Namespace, ref.Labels, d.Identity())
}

// finds reports whether a reference in a resource finds a destination: by labels, which
// must all be equal, or by name. In Kuma, the name is the display name of a destination
// in the resource's zone, and in the resource's namespace or the given one.
func (m *mesh) finds(from *resource.Meta, kind, name, namespace string, labels resource.Tags, d *resource.Meta) bool {
	if kind != d.Kind {
		return false
	}
	if name == "" {
		for _, want := range labels {
			value, present := lookup(d.Labels, want.Key)
			if want.Key == "kuma.io/display-name" {
				value, present = displayName(d), true
			}
			if !present || value != want.Value {
				return false
			}
		}
		return true
	}
	switch {
	case m.kuma3():
		return false
	case m.kumaLike():
		if namespace == "" {
			namespace = madeIn(from)
		}
		return name == displayName(d) && namespace == madeIn(d) && madeInZone(from) == madeInZone(d)
	}
	return name == d.Name && (namespace == "" || namespace == d.Namespace)
}

// selectsTarget reports whether the targetRef of a `to` item selects an outbound of a
// destination.
func (m *mesh) selectsTarget(p *resource.Policy, ref *resource.TargetRef, t *target) bool {
	if ref.Kind == resource.TargetMesh {
		return true
	}
	if ref.Kind == resource.TargetMeshServiceSubset || ref.Kind == resource.TargetMeshSubset {
		return false
	}
	d := t.destination.Identity()
	if m.finds(&p.Meta, ref.Kind.String(), ref.Name, ref.Namespace, ref.Labels, d) && (ref.SectionName == "" || ref.SectionName == t.section) {
		return true
	}
	// The names of services of Kuma 2: NAME_NAMESPACE_svc and NAME_NAMESPACE_svc_PORT.
	if m.semantics != "kuma" || ref.Kind != resource.TargetMeshService || ref.SectionName != "" {
		return false
	}
	for _, port := range t.destination.Ports() {
		for _, name := range []string{"", "_" + fmt.Sprint(port.Number)} {
			short, hasForm := strings.CutSuffix(ref.Name, "_svc"+name)
			name, namespace, two := strings.Cut(short, "_")
			if !hasForm || !two || strings.Contains(namespace, "_") || name == "" {
				continue
			}
			whole := strings.HasSuffix(ref.Name, "_svc")
			if m.finds(&p.Meta, "MeshService", name, namespace, nil, d) && (whole || portSection(port) == t.section) {
				return true
			}
		}
	}
	return false
}

// targetOutbounds returns the part of the answer about the outbounds of destinations.
func (m *mesh) targetOutbounds(kind *resource.Kind, policies []matched, dp *resource.Dataplane) []any {
	list := []any{}
	for _, t := range m.destinationTargets(dp) {
		answer := map[string]any{"outbound": t.answer}
		m.addConf(answer, m.toItems(policies, &traffic{target: &t}))
		if routes := m.targetRoutes(kind, policies, dp, &t); len(routes) > 0 {
			answer["routes"] = routes
		}
		list = append(list, answer)
	}
	return list
}

func (m *mesh) targetRoutes(kind *resource.Kind, policies []matched, dp *resource.Dataplane, t *target) []any {
	if isRouteKind(kind) {
		return nil
	}
	answers := []any{}
	for _, route := range m.policies {
		if !isRouteKind(route.Type) || !m.takesPart(route, dp) || !m.selects(route, dp).selected {
			continue
		}
		for i := range route.To {
			if m.selectsTarget(route, &route.To[i].TargetRef, t) {
				answer := map[string]any{"route": m.policyKRI(route)}
				m.addConf(answer, m.toItems(policies, &traffic{target: t, route: route}))
				answers = append(answers, answer)
				break
			}
		}
	}
	sort.Slice(answers, func(i, j int) bool {
		return answers[i].(map[string]any)["route"].(string) < answers[j].(map[string]any)["route"].(string)
	})
	return answers
}

// compareKumaItems compares items by the columns that SPEC 17.1 gives for policies, with
// the target of the item between the role and the name.
func (m *mesh) compareKumaItems(a, b item) int {
	for _, column := range []func(item) int{
		func(i item) int { return kumaLevel(i.policy) },
		func(i item) int { return m.dataplaneRank(&i.policy.TargetRef) },
		func(i item) int { return originRank(&i.policy.Meta) },
		func(i item) int { return m.roleRank(i.policy) },
		func(i item) int { return targetRank(&i.policy.To[i.index].TargetRef) },
	} {
		if x, y := column(a), column(b); x != y {
			return x - y
		}
	}
	for _, column := range []func(*resource.Policy) string{
		func(p *resource.Policy) string { return displayName(&p.Meta) },
		func(p *resource.Policy) string { return p.Namespace },
		func(p *resource.Policy) string { return p.Name },
	} {
		if x, y := column(a.policy), column(b.policy); x != y {
			return strings.Compare(y, x)
		}
	}
	return 0
}

func targetRank(ref *resource.TargetRef) int {
	switch ref.Kind {
	case resource.TargetMeshService:
		if ref.SectionName != "" {
			return 2
		}
		return 1
	case resource.TargetMeshExternalService:
		return 3
	case resource.TargetMeshMultiZoneService:
		return 4
	case resource.TargetMeshHTTPRoute, resource.TargetMeshTCPRoute:
		return 5
	}
	return 0
}

// hasCertificatesOfKuma2 reports whether a destination is an external service with a
// certificate or key in the form of Kuma 2, which Kuma 3 refuses.
func hasCertificatesOfKuma2(d resource.Destination) bool {
	external, is := d.(*resource.MeshExternalService)
	if !is || external.Spec.TLS == nil || external.Spec.TLS.Verification == nil {
		return false
	}
	v := external.Spec.TLS.Verification
	for _, c := range listOf(v.CACert, v.ClientCert, v.ClientKey) {
		if c != nil && (c.Secret != nil || c.Inline != nil || c.InlineString != nil) {
			return true
		}
	}
	return false
}

func listOf[T any](elems ...T) []T { return elems }
