package naive

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/resource"
)

// This file implements SPEC 17.1, where policies are read like in a Kuma control
// plane. Each function implements a row of the table.

// kumaLike reports whether policies are read by SPEC 17.1.
func (m *mesh) kumaLike() bool { return m.semantics == "kuma" || m.semantics == "kuma3" }

func (m *mesh) kuma3() bool { return m.semantics == "kuma3" }

func displayName(meta *resource.Meta) string {
	if name, present := lookup(meta.Labels, "kuma.io/display-name"); present {
		return name
	}
	return meta.Name
}

// madeIn returns the namespace in which a resource was made.
func madeIn(meta *resource.Meta) string {
	namespace, _ := lookup(meta.Labels, "k8s.kuma.io/namespace")
	return namespace
}

func madeInZone(meta *resource.Meta) string {
	zone, _ := lookup(meta.Labels, "kuma.io/zone")
	return zone
}

// originRank orders the origins: global, then none, then zone.
func originRank(meta *resource.Meta) int {
	origin, _ := lookup(meta.Labels, "kuma.io/origin")
	switch origin {
	case "global":
		return 0
	case "zone":
		return 2
	}
	return 1
}

var roles = []string{"system", "producer", "consumer", "workload-owner"}

// roleRank returns the position of a policy's role in roles. The label determines
// the role; without it, Kuma derives the role on Kubernetes from the namespace and
// the items.
func (m *mesh) roleRank(p *resource.Policy) int {
	if label, present := lookup(p.Labels, "kuma.io/policy-role"); present {
		for rank, role := range roles {
			if role == label {
				return rank
			}
		}
		return 0
	}
	if p.Namespace == "" || p.Namespace == "kuma-system" {
		return 0
	}
	if len(p.To) == 0 && len(p.Gateway) == 0 {
		return 3
	}
	if len(p.Gateway) > 0 { // for the listeners of gateways: of kind Mesh
		return 2
	}
	for i := range p.To {
		if !m.producerItem(&p.To[i].TargetRef, p.Namespace) {
			return 2
		}
	}
	return 1
}

// producerItem reports whether a `to` item refers to a service or a route of the
// policy's own namespace.
func (m *mesh) producerItem(ref *resource.TargetRef, namespace string) bool {
	if ref.Kind != resource.TargetMeshService && ref.Kind != resource.TargetMeshHTTPRoute {
		return false
	}
	if !m.kuma3() {
		return ref.Name != "" && (ref.Namespace == "" || ref.Namespace == namespace)
	}
	if ref.Name != "" {
		return false
	}
	for _, label := range ref.Labels {
		if label.Key != "kuma.io/display-name" && (label.Key != "k8s.kuma.io/namespace" || label.Value != namespace) {
			return false
		}
	}
	_, named := lookup(ref.Labels, "kuma.io/display-name")
	return named
}

// kumaOrder compares by the columns of SPEC 17.1; the first difference decides.
func (m *mesh) kumaOrder(a, b *resource.Policy) bool {
	for _, column := range []func(*resource.Policy) int{
		func(p *resource.Policy) int { return kumaLevel(p) },
		func(p *resource.Policy) int { return m.dataplaneRank(&p.TargetRef) },
		func(p *resource.Policy) int { return originRank(&p.Meta) },
		func(p *resource.Policy) int { return m.gatewayRank(&p.TargetRef) },
		m.roleRank,
	} {
		if x, y := column(a), column(b); x != y {
			return x < y
		}
	}
	// The order is descending: the first in the alphabet overrides.
	for _, column := range []func(*resource.Policy) string{
		func(p *resource.Policy) string { return displayName(&p.Meta) },
		func(p *resource.Policy) string { return p.Namespace },
		func(p *resource.Policy) string { return p.Name },
	} {
		if x, y := column(a), column(b); x != y {
			return x > y
		}
	}
	return false
}

// kumaLevel returns the level of SPEC 3, without a level for sectionName.
func kumaLevel(p *resource.Policy) int {
	rank, kind := level(p)
	if kind == "Dataplane" {
		return 2
	}
	return rank
}

// dataplaneRank orders targetRefs of kind Dataplane: by name over by labels, then with
// a section over without.
func (m *mesh) dataplaneRank(ref *resource.TargetRef) int {
	rank := 0
	if ref.Kind != resource.TargetDataplane {
		return rank
	}
	if ref.Name != "" && !m.kuma3() {
		rank += 2
	}
	if ref.SectionName != "" {
		rank++
	}
	return rank
}

func (m *mesh) gatewayRank(ref *resource.TargetRef) int {
	if ref.Kind != resource.TargetMeshGateway || m.kuma3() {
		return 0
	}
	return len(ref.Tags)
}

// inScope reports whether the role and the origin of a policy allow it to select a
// dataplane.
func (m *mesh) inScope(p *resource.Policy, dp *resource.Dataplane) bool {
	role := roles[m.roleRank(p)]
	if role == "producer" {
		return true
	}
	if inDifferentZones(&p.Meta, &dp.Meta) {
		return false
	}
	return role == "system" || madeIn(&p.Meta) == madeIn(&dp.Meta)
}

// inDifferentZones reports whether both resources were made in a zone, and not in the same.
func inDifferentZones(a, b *resource.Meta) bool {
	for _, m := range []*resource.Meta{a, b} {
		if originRank(m) != 2 || madeInZone(m) == "" {
			return false
		}
	}
	return madeInZone(a) != madeInZone(b)
}

// kumaSelects implements the table of SPEC 2.2 in Kuma's semantics.
func (m *mesh) kumaSelects(p *resource.Policy, dp *resource.Dataplane) selection {
	ref := &p.TargetRef
	gateway := dp.Gateway != nil && (!dp.Gateway.Builtin || len(listenersOf(dp)) > 0)
	serves := len(dp.Inbounds) > 0 || len(dp.Listeners) > 0 || gateway
	if p.Mesh != dp.Mesh || !serves || !m.inScope(p, dp) {
		return nothing(dp)
	}
	if m.kuma3() && ref.Kind != resource.TargetMesh && ref.Kind != resource.TargetDataplane {
		return nothing(dp)
	}
	switch {
	case ref.Kind == resource.TargetMesh && m.kuma3():
		return everything(dp) // of every type
	case ref.Kind == resource.TargetMeshGateway:
		return selectsGateway(ref, dp)
	case ref.Kind != resource.TargetDataplane:
		return m.targets(ref, p, dp)
	}
	switch builtin := dp.Gateway != nil && dp.Gateway.Builtin; {
	case m.kuma3():
	case ref.Name != "":
		namespace := ref.Namespace
		if namespace == "" {
			namespace = madeIn(&p.Meta)
		}
		if ref.Name != displayName(&dp.Meta) || namespace != madeIn(&dp.Meta) || madeInZone(&p.Meta) != madeInZone(&dp.Meta) {
			return nothing(dp)
		}
	case len(ref.Labels) == 0 && builtin:
		return nothing(dp)
	}
	if !hasLabels(&dp.Meta, ref.Labels) {
		return nothing(dp)
	}
	return sections(ref, dp)
}

// hasLabels reports whether a resource has all labels. Every resource has a display name.
func hasLabels(meta *resource.Meta, labels resource.Tags) bool {
	for _, want := range labels {
		value, present := lookup(meta.Labels, want.Key)
		if want.Key == "kuma.io/display-name" {
			value, present = displayName(meta), true
		}
		if !present || value != want.Value {
			return false
		}
	}
	return true
}

// kumaRoute reports whether a targetRef of a policy refers to a route.
func (m *mesh) kumaRoute(p *resource.Policy, ref *resource.TargetRef, route *resource.Policy) bool {
	switch {
	case ref.Kind == resource.TargetMeshHTTPRoute && route.Type.Name == "MeshHTTPRoute":
	case ref.Kind == resource.TargetMeshTCPRoute && route.Type.Name == "MeshTCPRoute":
	default:
		return false
	}
	if ref.Name == "" {
		return hasLabels(&route.Meta, ref.Labels)
	}
	namespace := ref.Namespace
	if namespace == "" {
		namespace = madeIn(&p.Meta)
	}
	return !m.kuma3() && ref.Name == displayName(&route.Meta) && madeInZone(&p.Meta) == madeInZone(&route.Meta) && namespace == madeIn(&route.Meta)
}

// fromIsRule lists the kinds whose `from` items are rules without matches.
func (m *mesh) fromIsRule(kind *resource.Kind) bool {
	if m.semantics != "kuma" {
		return false
	}
	return slices.Contains([]string{"MeshTimeout", "MeshCircuitBreaker", "MeshRateLimit", "MeshAccessLog", "MeshTLS"}, kind.Name)
}

// SyncedName returns the name of the copy of a resource at another control plane (SPEC
// 17.2): the display name, cut to 236 bytes, and 16 characters of a hash.
func SyncedName(meshName, display, zone, namespace string) string {
	hash := uint64(14695981039346656037) // FNV-1a of 64 bits
	for _, part := range []string{meshName, display, zone, namespace} {
		for i := 0; i < len(part); i++ {
			hash = (hash ^ uint64(part[i])) * 1099511628211
		}
	}
	const digits, replacements = "0123456789abcdef", "bcdfghjklmnpqrstvwxz2456789"
	name := display
	if len(name) > 236 {
		name = name[:236]
	}
	name += "-"
	for shift := 60; shift >= 0; shift -= 4 {
		digit := digits[hash>>shift&15]
		name += string(replacements[int(digit)%27])
	}
	return name
}
