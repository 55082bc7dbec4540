package semantics

import (
	"fmt"
	"slices"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Semantics is a way to read policies. The zero Semantics is none: an engine refuses it.
type Semantics uint8

// The semantics.
const (
	_ Semantics = iota
	// TargetRef reads policies by SPEC 1 to 9.
	TargetRef
	// Kuma reads policies like a control plane of Kuma 2.14.
	Kuma
	// Kuma3 reads policies like a control plane of Kuma 3.0.
	Kuma3
)

var names = [...]string{"", "targetref", "kuma", "kuma3"}

// String returns the name that the command line and answers use.
func (s Semantics) String() string { return names[s] }

// Reading returns the semantics as a set of ways to read documents.
func (s Semantics) Reading() diag.Reading { return diag.AsTargetRef << (s - TargetRef) }

// MarshalText returns the name.
func (s Semantics) MarshalText() ([]byte, error) { return []byte(names[s]), nil }

// UnmarshalText reads the name.
func (s *Semantics) UnmarshalText(name []byte) (err error) {
	*s, err = Parse(string(name))
	return err
}

// Parse returns the semantics with a name.
func Parse(name string) (Semantics, error) {
	for i, known := range names {
		if known == name && name != "" {
			return Semantics(i), nil
		}
	}
	return 0, fmt.Errorf("unknown semantics %q; %s", name, diag.DidYouMean(name, names[1:]))
}

// isKuma reports whether policies are read like a control plane of Kuma reads them.
func (s Semantics) isKuma() bool { return s >= Kuma }

// RefersToRoute reports whether a targetRef of a policy, at its top level or in `to`, is
// of a route kind and refers to the route: in Kuma by its name, zone and namespace, or by labels.
func (s Semantics) RefersToRoute(p *resource.Policy, t *resource.TargetRef, route *resource.Policy) bool {
	switch {
	case !s.isKuma():
		return t.SelectsRoute(route)
	case t.Kind.String() != route.Kind:
		return false
	case t.Name == "":
		return route.HasLabels(t.Labels)
	}
	return s == Kuma && t.Name == route.DisplayName() && p.Zone() == route.Zone() && namespaceOf(p, t) == route.HomeNamespace()
}

// AppliesToTags reports whether the `to` items of a policy may apply to outbounds that are
// given by tags, and to their routes. In Kuma, no item does if an item of the policy is for
// a MeshHTTPRoute (SPEC 17.3).
func (s Semantics) AppliesToTags(p *resource.Policy) bool {
	return !s.isKuma() || !slices.ContainsFunc(p.To, func(i resource.Item) bool { return i.TargetRef.Kind == resource.TargetMeshHTTPRoute })
}

// MixesRoles reports whether a control plane refuses a policy whose `to` items have
// different roles (SPEC 17.1). It accepts a policy whose label names the role.
func (s Semantics) MixesRoles(p *resource.Policy) bool {
	_, labelled := p.Labels.Get(resource.PolicyRoleLabel)
	_, one := RoleOf(p, s == Kuma3)
	return s.isKuma() && !one && !labelled
}

// FromItems determines how the `from` items of a kind are read.
type FromItems uint8

const (
	// FromByClient items apply to clients by their tags (SPEC 5).
	FromByClient FromItems = iota
	// FromAsRules items are rules without matches. They apply to all clients and are
	// merged with `rules`; SPEC 5.6 does not apply.
	FromAsRules
	// FromUnread items have no effect.
	FromUnread
)

// FromItems returns how the `from` items of a kind are read (SPEC 17.1): the items of some kinds
// are rules in Kuma 2, and Kuma 3 reads none.
func (s Semantics) FromItems(kind *resource.Kind) FromItems {
	if s == Kuma3 {
		return FromUnread
	}
	switch kind.Name {
	case "MeshTimeout", "MeshCircuitBreaker", "MeshRateLimit", "MeshAccessLog", "MeshTLS":
		if s == Kuma {
			return FromAsRules
		}
	}
	return FromByClient
}

// Detect returns the semantics of resources: [Kuma] if a policy has a label that Kuma's
// control planes write, or if there is a MeshService, otherwise [TargetRef]. Because is
// the resource that decides, the first by identity if there are several; nil for
// TargetRef.
func Detect(set *resource.Set) (detected Semantics, because *resource.Meta) {
	detected = TargetRef
	found := func(m *resource.Meta) {
		if because == nil || m.ID.Compare(because.ID) < 0 {
			detected, because = Kuma, m
		}
	}
	isLabelled := func(labels resource.Tags) bool {
		_, role := labels.Get(resource.PolicyRoleLabel)
		_, origin := labels.Get(resource.OriginLabel)
		return role || origin
	}
	for _, p := range set.Policies {
		if isLabelled(p.Labels) {
			found(&p.Meta)
		}
	}
	for _, left := range set.LeftOut {
		if left.Stored && (left.Kind == resource.MeshServiceKind || !slices.Contains(resource.FixedKinds(), left.Kind) && isLabelled(left.Labels)) {
			found(&resource.Meta{ID: resource.ID{Kind: left.Kind}, Pos: left.Errors[0].Pos})
		}
	}
	for _, o := range set.Objects {
		if o.Identity().Kind == resource.MeshServiceKind {
			found(o.Identity())
		}
	}
	return detected, because
}
