package semantics

import (
	"cmp"
	"strings"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// Order returns the order in which policies of one kind and mesh override each other:
// the order of SPEC 3 or of SPEC 17.1.
func (s Semantics) Order() results.Order {
	if s.isKuma() {
		return s.compare
	}
	return results.DefaultOrder
}

// Reading determines how an engine reads policies: by a semantics, and an order of the
// policies of one kind that an embedder may replace.
type Reading struct {
	Semantics Semantics
	// Order is the order in which policies of one kind override each other; nil means
	// the order of the semantics.
	Order results.Order
}

// compare is the order of SPEC 17.1: by the level of the top-level targetRef, the
// origin, the role, and the display name in descending order. Kuma does not define
// the order of policies that are equal in all of these; here the namespace and the
// name decide, also in descending order.
func (s Semantics) compare(a, b *resource.Policy) int {
	return cmp.Or(
		s.compareTops(a, b),
		cmp.Compare(a.Origin(), b.Origin()),
		s.compareGateways(&a.TargetRef, &b.TargetRef),
		cmp.Compare(s.role(a), s.role(b)),
		compareNames(a, b),
	)
}

// compareTops compares the levels of the top-level targetRefs.
func (s Semantics) compareTops(a, b *resource.Policy) int {
	return cmp.Or(
		cmp.Compare(kumaLevel(a.TargetRef.Kind), kumaLevel(b.TargetRef.Kind)),
		s.compareDataplanes(&a.TargetRef, &b.TargetRef),
	)
}

// compareNames compares the names of policies, in descending order.
func compareNames(a, b *resource.Policy) int {
	return cmp.Or(
		strings.Compare(b.DisplayName(), a.DisplayName()),
		strings.Compare(b.Namespace, a.Namespace),
		strings.Compare(b.Name, a.Name),
	)
}

// kumaLevel returns the level of the kind of a top-level targetRef. The constants of the
// kinds are in the order of the levels; all routes are one level.
func kumaLevel(kind resource.TargetKind) resource.TargetKind {
	if kind.IsRoute() {
		return resource.TargetMeshHTTPRoute
	}
	return kind
}

// compareDataplanes compares two targetRefs of kind Dataplane, which have the same level.
// In Kuma 2, a targetRef with a name overrides one without, and a targetRef with a
// section overrides one without. Kuma 2 combines the two rules in a way that has a cycle;
// here the name decides first.
func (s Semantics) compareDataplanes(a, b *resource.TargetRef) int {
	if a.Kind != resource.TargetDataplane || b.Kind != resource.TargetDataplane {
		return 0
	}
	sections := compareBool(a.SectionName != "", b.SectionName != "")
	if s == Kuma3 {
		return sections
	}
	return cmp.Or(compareBool(a.Name != "", b.Name != ""), sections)
}

// compareGateways compares two targetRefs of kind MeshGateway. In Kuma 2, the one with
// more tags overrides.
func (s Semantics) compareGateways(a, b *resource.TargetRef) int {
	if s == Kuma3 || a.Kind != resource.TargetMeshGateway || b.Kind != resource.TargetMeshGateway {
		return 0
	}
	return cmp.Compare(len(a.Tags), len(b.Tags))
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
