package semantics_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// loaded returns the resources of a text.
func loaded(t *testing.T, text string) *resource.Set {
	t.Helper()
	loader := resource.Loader{Kinds: kinds.All()}
	set, err := loader.Decode(t.Context(), resource.Input{Name: "in.yaml", Data: []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// find returns the first object of a type.
func find[T resource.Object](t *testing.T, set *resource.Set) T {
	t.Helper()
	for _, o := range set.Objects {
		if found, ok := o.(T); ok {
			return found
		}
	}
	t.Fatal("no such object")
	panic("unreachable")
}

// Each rule has an answer by each of the three semantics.
func TestRules(t *testing.T) {
	const till = "{type: MeshService, name: till-x, labels: {kuma.io/display-name: till, kuma.io/zone: east, kuma.io/origin: zone, k8s.kuma.io/namespace: shop}, " +
		"spec: {identities: [{type: ServiceTag, value: till}, {type: SpiffeID, value: spiffe://td/till}], ports: [{port: 80, name: http}, {port: 81}]}}"
	from := &resource.Meta{ID: resource.ID{Mesh: "default", Name: "p"}, Labels: resource.NewTags(map[string]string{resource.ZoneTag: "east", resource.NamespaceLabel: "shop"})}
	elsewhere := &resource.Meta{ID: resource.ID{Mesh: "default", Name: "p"}, Labels: resource.NewTags(map[string]string{resource.ZoneTag: "west", resource.NamespaceLabel: "shop"})}
	for _, c := range []struct {
		rule                     string
		of                       func(*testing.T, semantics.Semantics) any
		targetRef, kuma2, kuma3_ any
	}{
		{"17.1: a resource is referred to by its name, or by its display name", func(t *testing.T, s semantics.Semantics) any {
			return s.ReferenceName(find[*resource.MeshService](t, loaded(t, till)).Identity())
		}, "till-x", "till", "till"},
		{"17.1: a KRI in answers has the display name", func(t *testing.T, s semantics.Semantics) any {
			o := find[*resource.MeshService](t, loaded(t, till))
			return strings.Contains(s.KRI(o.KRI(""), o.Identity()), "_till_")
		}, false, true, true},
		{"17.1: permissions without an identity", func(t *testing.T, s semantics.Semantics) any { return s.PermissionsApply(nil, false) }, true, false, false},
		{"17.1: permissions with an identity", func(t *testing.T, s semantics.Semantics) any { return s.PermissionsApply(nil, true) }, true, true, true},
		{"17.1: mtls of a Mesh gives an identity in kuma", func(t *testing.T, s semantics.Semantics) any {
			mesh := loaded(t, "{type: Mesh, name: default, mtls: {enabledBackend: ca, backends: [{name: ca, type: builtin}]}}").Meshes[0]
			return s.PermissionsApply(mesh, false)
		}, true, true, false},
		{"17.1: from of MeshTimeout", func(t *testing.T, s semantics.Semantics) any { return s.FromItems(kinds.All().Lookup("MeshTimeout")) },
			semantics.FromByClient, semantics.FromAsRules, semantics.FromUnread},
		{"17.1: from of MeshTrafficPermission", func(t *testing.T, s semantics.Semantics) any {
			return s.FromItems(kinds.All().Lookup("MeshFaultInjection"))
		},
			semantics.FromByClient, semantics.FromByClient, semantics.FromUnread},
		{"17.3: a name finds in the zone of the policy", func(t *testing.T, s semantics.Semantics) any {
			return s.FindsByName(from, "", find[*resource.MeshService](t, loaded(t, till)).Identity())
		}, true, true, false},
		{"17.3: a name finds nothing in another zone", func(t *testing.T, s semantics.Semantics) any {
			return s.FindsByName(elsewhere, "", find[*resource.MeshService](t, loaded(t, till)).Identity())
		}, true, false, false},
		{"17.3: the long name of a MeshService", func(t *testing.T, s semantics.Semantics) any {
			name, namespace, port, ok := s.ServiceName("till_shop_svc_80")
			return fmt.Sprint(name, " ", namespace, " ", port, " ", ok)
		}, "  0 false", "till shop 80 true", "  0 false"},
		{"17.3: no leading zero in the port of a long name", func(t *testing.T, s semantics.Semantics) any {
			_, _, _, ok := s.ServiceName("till_shop_svc_080")
			return ok
		}, false, false, false},
		{"17.3: the section of a listed port with a name", func(t *testing.T, s semantics.Semantics) any {
			return s.ListedSection(find[*resource.MeshService](t, loaded(t, till)).Ports()[0])
		}, "http", "", ""},
		{"17.3: the section of a listed port without a name", func(t *testing.T, s semantics.Semantics) any {
			return s.ListedSection(find[*resource.MeshService](t, loaded(t, till)).Ports()[1])
		}, "81", "81", "81"},
		{"17.3: routes have the items of their outbound", func(t *testing.T, s semantics.Semantics) any { return s.RoutesHaveOutboundItems() }, true, false, false},
		{"17.3: a collector is found by its name", func(t *testing.T, s semantics.Semantics) any {
			name := "otel"
			return s.FindsCollector(&conf.CollectorRef{Name: &name}, &resource.Meta{ID: resource.ID{Name: "otel-x"}, Labels: resource.NewTags(map[string]string{resource.DisplayNameLabel: "otel"})})
		}, false, true, false},
		{"17.4: a MeshService is called by TLS before its status is ready", func(t *testing.T, s semantics.Semantics) any { return s.ServiceTLS(false) },
			semantics.TLSByEndpoint, semantics.AlwaysTLS, semantics.NeverTLS},
		{"17.4: the SPIFFE IDs of a MeshService", func(t *testing.T, s semantics.Semantics) any {
			return strings.Join(s.SPIFFEIDs(find[*resource.MeshService](t, loaded(t, till))), " ")
		}, "spiffe://default/till spiffe://td/till", "spiffe://default/till spiffe://td/till", "spiffe://td/till"},
		{"17.5: the policies that are made with a mesh", func(t *testing.T, s semantics.Semantics) any {
			var names []string
			for _, id := range s.DefaultPolicies("shop", nil) {
				names = append(names, id.Name)
			}
			return strings.Join(names, " ")
		}, "", "mesh-circuit-breaker-all-shop mesh-retry-all-shop mesh-gateways-timeout-all-shop mesh-timeout-all-shop",
			"mesh-circuit-breaker-all-shop mesh-retry-all-shop mesh-timeout-all-shop mesh-timeout-to-all-shop"},
		{"17.5: policies that a mesh asks not to make", func(t *testing.T, s semantics.Semantics) any {
			mesh := loaded(t, "{type: Mesh, name: shop, skipCreatingInitialPolicies: [MeshTimeout, MeshRetry]}").Meshes[0]
			return len(s.DefaultPolicies("shop", mesh))
		}, 0, 1, 1},
	} {
		t.Run(c.rule, func(t *testing.T) {
			for s, want := range map[semantics.Semantics]any{semantics.TargetRef: c.targetRef, semantics.Kuma: c.kuma2, semantics.Kuma3: c.kuma3_} {
				if got := c.of(t, s); got != want {
					t.Errorf("%s: got %v, want %v", s, got, want)
				}
			}
		})
	}
}

// Parse reads what String prints, and nothing else.
func TestParse(t *testing.T) {
	for _, s := range []semantics.Semantics{semantics.TargetRef, semantics.Kuma, semantics.Kuma3} {
		if got, err := semantics.Parse(s.String()); got != s || err != nil {
			t.Errorf("Parse(%q) = %v, %v", s, got, err)
		}
	}
	for _, name := range []string{"", "auto", "Kuma", "kuma4"} {
		if got, err := semantics.Parse(name); err == nil {
			t.Errorf("Parse(%q) = %v", name, got)
		}
	}
}

// A policy of a zone selects dataplanes of its zone, and one of a namespace those of the namespace
// too (SPEC 17.1): what it requires are facts of the dataplane.
func TestScope(t *testing.T) {
	const policy = "{type: MeshTimeout, name: a, labels: {%s}, spec: {to: [{default: {idleTimeout: 1s}}]}}"
	facts := func(s semantics.Semantics, labels string) []semantics.Fact {
		required, _ := s.AppendRequired(nil, loaded(t, fmt.Sprintf(policy, labels)).Policies[0])
		return required
	}
	zone := facts(semantics.Kuma, "kuma.io/origin: zone, kuma.io/zone: east, kuma.io/policy-role: system")
	owner := facts(semantics.Kuma, "kuma.io/origin: zone, kuma.io/zone: east, k8s.kuma.io/namespace: shop, kuma.io/policy-role: workload-owner")
	global := facts(semantics.Kuma, "kuma.io/origin: global")
	if len(zone) <= len(global) || len(owner) <= len(zone) {
		t.Errorf("global %v, zone %v, workload owner %v", global, zone, owner)
	}
	for _, fact := range zone {
		if !slices.Contains(owner, fact) {
			t.Errorf("the policy of a namespace does not require %v", fact)
		}
	}
	if plain, labelled := facts(semantics.TargetRef, ""), facts(semantics.TargetRef, "kuma.io/origin: zone, kuma.io/zone: east"); !slices.Equal(plain, labelled) {
		t.Errorf("targetref reads labels of Kuma: %v, %v", plain, labelled)
	}
}
