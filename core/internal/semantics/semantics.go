package semantics

import (
	"fmt"
	"slices"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
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

// reader is one way to read policies.
type reader interface {
	// compare is negative if b overrides a.
	compare(a, b *resource.Policy) int
	// appendTarget appends the facts that the top-level targetRef of a policy requires,
	// which is not of a route kind. appendScope appends the facts that the role and the
	// origin require.
	appendTarget(facts []Fact, p *resource.Policy) []Fact
	appendScope(facts []Fact, p *resource.Policy) []Fact
	// See name.go.
	referenceName(m *resource.Meta) string
	kri(kri string, m *resource.Meta) string
	refersToRoute(p *resource.Policy, t *resource.TargetRef, route *resource.Policy) bool
	fromItems(kind *resource.Kind) FromItems
	asStored(p *resource.Policy) *resource.Policy
	defaultPolicies() []defaultPolicy
	permissionsApply(mesh *resource.Mesh, identified bool) bool
	passthrough(mesh *resource.Mesh) bool
	proxies(mesh *resource.Mesh, objects []resource.Object) *Proxies
	// See the methods of Semantics about destinations.
	findsByName(from *resource.Meta, namespace string, o *resource.Meta) bool
	hasServiceNames() bool
	namesCollectors() bool
	refused(d resource.Destination) string
	routeBackend(route *resource.Policy, ref *resource.BackendRef) *resource.BackendRef
	listedSection(port resource.DestinationPort) string
	reachesAll(mesh *resource.Mesh, p *resource.TransparentProxy) bool
	rankItem(o results.Origin) (rank uint64, applies bool)
	compareItems(a, b *RankedItem, order results.Order) int
	routesHaveOutboundItems() bool
	hasServiceTags() bool
	serviceTLS(ready bool) ServiceTLS
	multiZone() multiZoneReading
	zones() ZoneReading
	appliesToTags(p *resource.Policy) bool
	mixesRoles(p *resource.Policy) bool
}

func (s Semantics) reader() reader {
	switch s {
	case Kuma:
		return kuma{}
	case Kuma3:
		return kuma{labelsOnly: true}
	}
	return targetRef{}
}

// RefersToRoute reports whether a targetRef of a policy, at its top level or in `to`, is
// of a route kind and refers to the route.
func (s Semantics) RefersToRoute(p *resource.Policy, t *resource.TargetRef, route *resource.Policy) bool {
	return s.reader().refersToRoute(p, t, route)
}

// AppliesToTags reports whether the `to` items of a policy may apply to outbounds that are
// given by tags, and to their routes. In Kuma, no item does if an item of the policy is for
// a MeshHTTPRoute (SPEC 17.3).
func (s Semantics) AppliesToTags(p *resource.Policy) bool { return s.reader().appliesToTags(p) }

func (targetRef) appliesToTags(*resource.Policy) bool { return true }

func (kuma) appliesToTags(p *resource.Policy) bool {
	return !slices.ContainsFunc(p.To, func(i resource.Item) bool { return i.TargetRef.Kind == resource.TargetMeshHTTPRoute })
}

// MixesRoles reports whether a control plane refuses a policy because its `to` items
// have different roles and no label names the role of the policy (SPEC 17.1).
func (s Semantics) MixesRoles(p *resource.Policy) bool { return s.reader().mixesRoles(p) }

func (targetRef) mixesRoles(*resource.Policy) bool { return false }

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

// FromItems returns how the `from` items of a kind are read (SPEC 17.1).
func (s Semantics) FromItems(kind *resource.Kind) FromItems { return s.reader().fromItems(kind) }

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
