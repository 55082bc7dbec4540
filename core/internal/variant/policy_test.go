package variant_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/internal/partition"
	"github.com/meshmatch/meshmatch/core/internal/shape"
	"github.com/meshmatch/meshmatch/core/internal/variant"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/kind/meshtimeout"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

func load(t testing.TB, text string) *resource.Set {
	t.Helper()
	loader := resource.Loader{Kinds: kinds.All(), Documents: ocm.Documents()}
	set, err := loader.Decode(t.Context(), resource.Input{Name: "mesh.yaml", Data: []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func engineOf(t testing.TB, text string) *core.Engine {
	t.Helper()
	engine := core.NewEngine(kinds.All(), core.Options{Semantics: core.TargetRef})
	if _, err := engine.Apply(t.Context(), core.Batch{Upsert: load(t, text)}); err != nil {
		t.Fatal(err)
	}
	return engine
}

func destination(t testing.TB, text string) variant.Destination {
	t.Helper()
	d, ok := variant.ParseDestination("default", text)
	if !ok {
		t.Fatalf("%s is not a destination", text)
	}
	return d
}

// describe returns one line for each variant.
func describe(t testing.TB, v *variant.PolicyVariants) string {
	t.Helper()
	var lines []string
	for i, content := range v.Contents {
		conf, err := json.Marshal(content.Conf)
		if err != nil {
			t.Fatal(err)
		}
		line := v.Set.Short(i) + ": " + string(conf)
		for _, r := range content.Routes {
			conf, err := json.Marshal(r.Conf)
			if err != nil {
				t.Fatal(err)
			}
			line += " " + r.Route.Name + ": " + string(conf)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n") + "\n"
}

const levels = `
{type: MeshRetry, name: all, spec: {to: [{default: {tcp: {maxConnectAttempt: 1}}}]}}
---
{type: MeshRetry, name: other-service, spec: {to: [{targetRef: {kind: MeshService, name: other}, default: {tcp: {maxConnectAttempt: 9}}}]}}
---
{type: MeshRetry, name: team, spec: {targetRef: {kind: MeshSubset, tags: {team: a}}, to: [{targetRef: {kind: MeshService, name: backend}, default: {tcp: {maxConnectAttempt: 2}}}]}}
---
{type: MeshRetry, name: shadow, labels: {kuma.io/effect: shadow}, spec: {targetRef: {kind: MeshSubset, tags: {team: b}}, to: [{default: {tcp: {maxConnectAttempt: 8}}}]}}
---
{type: MeshRetry, name: gateways, spec: {targetRef: {kind: Mesh, proxyTypes: [Gateway]}, to: [{default: {tcp: {maxConnectAttempt: 7}}}]}}
`

func TestPolicyVariants(t *testing.T) {
	for _, test := range []struct{ name, kind, mesh, destination, want string }{
		{"levels", "MeshRetry", levels, "backend", `
team=a: {"tcp":{"maxConnectAttempt":2}}
team!=a: {"tcp":{"maxConnectAttempt":1}}
`},
		{"a destination without an item of its own", "MeshRetry", levels, "payments", `
all: {"tcp":{"maxConnectAttempt":1}}
`},
		{"no policy", "MeshTimeout", levels, "backend", `
all: null
`},
		{"each part of a targetRef", "MeshRetry", `
{type: MeshRetry, name: a, spec: {targetRef: {kind: Dataplane, labels: {app: x}, sectionName: http}, to: [{default: {tcp: {maxConnectAttempt: 1}}}]}}
---
{type: MeshRetry, name: b, spec: {targetRef: {kind: MeshServiceSubset, name: web, tags: {version: "*"}}, to: [{default: {tcp: {maxConnectAttempt: 2}}}]}}
---
{type: MeshRetry, name: c, spec: {targetRef: {kind: Dataplane, name: web-1, namespace: ns}, to: [{default: {tcp: {maxConnectAttempt: 3}}}]}}
`, "backend", `
(@label/app=x & ((@name=web-1 & @namespace!=ns & @section!=http & (kuma.io/service!=web | !version)) | (@name!=web-1 & @section!=http & (kuma.io/service!=web | !version)))) | (@label/app!=x & ((@name=web-1 & @namespace!=ns & (kuma.io/service!=web | !version)) | (@name!=web-1 & (kuma.io/service!=web | !version)))): null
kuma.io/service=web & version: {"tcp":{"maxConnectAttempt":2}}
@label/app=x & @section=http & (kuma.io/service!=web | !version): {"tcp":{"maxConnectAttempt":1}}
(@label/app=x & @name=web-1 & @namespace=ns & @section!=http & (kuma.io/service!=web | !version)) | (@label/app!=x & @name=web-1 & @namespace=ns & (kuma.io/service!=web | !version)): {"tcp":{"maxConnectAttempt":3}}
`},
		{"equal confs of several policies are one variant", "MeshRetry", `
{type: MeshRetry, name: a, spec: {targetRef: {kind: MeshService, name: a}, to: [{default: {tcp: {maxConnectAttempt: 1}}}]}}
---
{type: MeshRetry, name: b, spec: {targetRef: {kind: MeshService, name: b}, to: [{default: {tcp: {maxConnectAttempt: 1}}}]}}
`, "backend", `
kuma.io/service!=a & kuma.io/service!=b: null
kuma.io/service=a | kuma.io/service=b: {"tcp":{"maxConnectAttempt":1}}
`},
		{"an item for a subset of the outbounds", "MeshRetry", `
{type: MeshRetry, name: a, spec: {to: [{targetRef: {kind: MeshServiceSubset, name: backend, tags: {version: v1}}, default: {tcp: {maxConnectAttempt: 1}}}]}}
`, "backend?version=v1", `
all: {"tcp":{"maxConnectAttempt":1}}
`},
		{"an empty conf is not the absence of one", "MeshLoadBalancingStrategy", `
{type: MeshLoadBalancingStrategy, name: a, spec: {targetRef: {kind: MeshService, name: a}, to: [{default: {}}]}}
`, "backend", `
kuma.io/service!=a: null
kuma.io/service=a: {}
`},
		{"a union of another type hides what is below it", "MeshLoadBalancingStrategy", `
{type: MeshLoadBalancingStrategy, name: low, spec: {to: [{default: {loadBalancer: {type: RingHash, ringHash: {minRingSize: 1}}}}]}}
---
{type: MeshLoadBalancingStrategy, name: middle, spec: {targetRef: {kind: MeshSubset, tags: {team: x}}, to: [{default: {loadBalancer: {type: Random}}}]}}
---
{type: MeshLoadBalancingStrategy, name: high, spec: {targetRef: {kind: MeshService, name: web}, to: [{default: {loadBalancer: {type: RingHash, ringHash: {maxRingSize: 2}}}}]}}
`, "backend", `
kuma.io/service=web & team=x: {"loadBalancer":{"type":"RingHash","ringHash":{"maxRingSize":2}}}
kuma.io/service!=web & team=x: {"loadBalancer":{"type":"Random"}}
kuma.io/service!=web & team!=x: {"loadBalancer":{"type":"RingHash","ringHash":{"minRingSize":1}}}
kuma.io/service=web & team!=x: {"loadBalancer":{"type":"RingHash","ringHash":{"minRingSize":1,"maxRingSize":2}}}
`},
		{"a field that only the lowest policy sets", "MeshTimeout", `
{type: MeshTimeout, name: a, spec: {to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1s}}]}}
---
{type: MeshTimeout, name: b, spec: {to: [{targetRef: {kind: Mesh}, default: {connectionTimeout: 2s}}]}}
---
{type: MeshTimeout, name: c, spec: {to: [{targetRef: {kind: Mesh}, default: {connectionTimeout: 3s}}]}}
`, "backend", `
all: {"connectionTimeout":"3s","idleTimeout":"1s"}
`},
		{"a policy of gateways, because the parameters describe sidecars", "MeshTimeout", `
{type: MeshTimeout, name: a, spec: {targetRef: {kind: MeshGateway, name: edge}, to: [{targetRef: {kind: Mesh}, default: {connectionTimeout: 1s}}]}}
---
{type: MeshTimeout, name: b, spec: {targetRef: {kind: MeshHTTPRoute, name: missing}, to: [{targetRef: {kind: Mesh}, default: {connectionTimeout: 1s}}]}}
`, "backend", `
all: null
`},
		{"an item for one of two routes", "MeshTimeout", `
{type: MeshHTTPRoute, name: r, spec: {to: [{targetRef: {kind: MeshService, name: backend}, rules: []}]}}
---
{type: MeshHTTPRoute, name: s, spec: {to: [{targetRef: {kind: MeshService, name: backend}, rules: []}]}}
---
{type: MeshTimeout, name: a, spec: {to: [{targetRef: {kind: MeshHTTPRoute, name: s}, default: {connectionTimeout: 1s}}]}}
`, "backend", `
all: null s: {"connectionTimeout":"1s"}
`},
		{"routes", "MeshTimeout", `
{type: MeshHTTPRoute, name: r, spec: {targetRef: {kind: MeshService, name: web}, to: [{targetRef: {kind: MeshService, name: backend}, rules: []}]}}
---
{type: MeshTimeout, name: a, spec: {to: [{targetRef: {kind: MeshService, name: backend}, default: {connectionTimeout: 1s}}]}}
---
{type: MeshTimeout, name: b, spec: {to: [{targetRef: {kind: MeshHTTPRoute, name: r}, default: {connectionTimeout: 2s}}]}}
---
{type: MeshTimeout, name: c, spec: {targetRef: {kind: MeshHTTPRoute, name: r}, to: [{targetRef: {kind: MeshService, name: backend}, default: {idleTimeout: 3s}}]}}
`, "backend", `
kuma.io/service!=web: {"connectionTimeout":"1s"}
kuma.io/service=web: {"connectionTimeout":"1s"} r: {"connectionTimeout":"2s","idleTimeout":"3s"}
`},
	} {
		t.Run(test.name, func(t *testing.T) {
			view := engineOf(t, test.mesh).View()
			compiler := variant.NewPolicyCompiler(view, "default", kinds.All().Lookup(test.kind))
			v, err := compiler.Compilation(destination(t, test.destination)).Compile(variant.MaxPolicyVariants)
			if err != nil {
				t.Fatal(err)
			}
			if got := describe(t, v); got != strings.TrimPrefix(test.want, "\n") {
				t.Errorf("got\n%swant%s", got, test.want)
			}
		})
	}
}

// Policies override each other in the order of the engine.
func TestPolicyCompilerOrder(t *testing.T) {
	reversed := func(a, b *resource.Policy) int { return results.DefaultOrder(b, a) }
	engine := core.NewEngine(kinds.All(), core.Options{Semantics: core.TargetRef, Order: reversed})
	if _, err := engine.Apply(t.Context(), core.Batch{Upsert: load(t, `
{type: MeshTimeout, name: a, spec: {to: [{targetRef: {kind: Mesh}, default: {connectionTimeout: 1s}}]}}
---
{type: MeshTimeout, name: b, spec: {to: [{targetRef: {kind: Mesh}, default: {connectionTimeout: 2s}}]}}
`)}); err != nil {
		t.Fatal(err)
	}
	v, err := variant.NewPolicyCompiler(engine.View(), "default", kinds.All().Lookup("MeshTimeout")).Compilation(destination(t, "backend")).Compile(variant.MaxPolicyVariants)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := describe(t, v), "all: {\"connectionTimeout\":\"1s\"}\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Update returns the destinations that a change affects, and no others.
func TestUpdate(t *testing.T) {
	retry := kinds.All().Lookup("MeshRetry")
	timeout := kinds.All().Lookup("MeshTimeout")
	policy := func(name, target, to, attempts string) string {
		return fmt.Sprintf("---\n{type: MeshRetry, name: %s, spec: {targetRef: %s, to: [{targetRef: %s, default: {tcp: {maxConnectAttempt: %s}}}]}}\n", name, target, to, attempts)
	}
	const mesh, backend, payments = "{kind: Mesh}", "{kind: MeshService, name: backend}", "{kind: MeshService, name: payments}"
	const route = "---\n{type: MeshHTTPRoute, name: r, spec: {to: [{targetRef: {kind: MeshService, name: payments}, rules: []}]}}\n"
	attached := "---\n{type: MeshTimeout, name: t, spec: {to: [{targetRef: {kind: MeshHTTPRoute, name: r}, default: {connectionTimeout: 2s}}]}}\n"
	engine := core.NewEngine(kinds.All(), core.Options{Semantics: core.TargetRef})
	retries := variant.NewPolicyCompiler(engine.View(), "default", retry)
	timeouts := variant.NewPolicyCompiler(engine.View(), "default", timeout)
	for _, c := range []*variant.PolicyCompiler{retries, timeouts} {
		for _, d := range []string{"backend", "payments"} {
			if v, err := c.Compilation(destination(t, d)).Compile(variant.MaxPolicyVariants); err != nil || v.Set.Len() != 1 {
				t.Fatalf("%s: %v, %v", d, v, err)
			}
		}
	}
	for _, step := range []struct {
		name     string
		upsert   string
		delete   string // the name of a policy
		retries  []string
		timeouts []string
		backend  string // the backend of the asserted retries
	}{
		{"a policy comes", policy("p", mesh, backend, "1"), "", []string{"default/backend"}, nil, "all: {\"tcp\":{\"maxConnectAttempt\":1}}\n"},
		{"the same again", policy("p", mesh, backend, "1"), "", nil, nil, "all: {\"tcp\":{\"maxConnectAttempt\":1}}\n"},
		{"another conf", policy("p", mesh, backend, "2"), "", []string{"default/backend"}, nil, "all: {\"tcp\":{\"maxConnectAttempt\":2}}\n"},
		{"another target", policy("p", mesh, payments, "2"), "", []string{"default/backend", "default/payments"}, nil, "all: null\n"},
		{"towards all", policy("q", "{kind: MeshSubset, tags: {a: b}}", mesh, "3"), "", []string{"default/backend", "default/payments"}, nil, "a!=b: null\na=b: {\"tcp\":{\"maxConnectAttempt\":3}}\n"},
		{"another level", policy("q", mesh, mesh, "3"), "", []string{"default/backend", "default/payments"}, nil, "all: {\"tcp\":{\"maxConnectAttempt\":3}}\n"},
		{"a policy of another kind", attached, "", nil, nil, "all: {\"tcp\":{\"maxConnectAttempt\":3}}\n"},
		{"a route", route, "", []string{"default/payments"}, []string{"default/payments"}, "all: {\"tcp\":{\"maxConnectAttempt\":3}}\n"},
		{"a policy for the route", strings.ReplaceAll(attached, "2s", "3s"), "", nil, []string{"default/payments"}, "all: {\"tcp\":{\"maxConnectAttempt\":3}}\n"},
		{"a policy goes", "", "q", []string{"default/backend", "default/payments"}, nil, "all: null\n"},
	} {
		batch := core.Batch{}
		if step.upsert != "" {
			batch.Upsert = load(t, step.upsert)
		}
		if step.delete != "" {
			batch.Delete = []resource.ID{{Kind: "MeshRetry", Mesh: "default", Name: step.delete}}
		}
		if _, err := engine.Apply(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
		for i, c := range []*variant.PolicyCompiler{retries, timeouts} {
			var names []string
			for _, d := range c.Update(engine.View()) {
				names = append(names, d.Name())
				c.Compilation(d)
			}
			if want := [][]string{step.retries, step.timeouts}[i]; !slices.Equal(names, want) {
				t.Errorf("%s: compiler %d returned %v, want %v", step.name, i, names, want)
			}
		}
		v, err := retries.Compilation(destination(t, "backend")).Compile(variant.MaxPolicyVariants)
		if err != nil {
			t.Fatal(err)
		}
		if got := describe(t, v); got != step.backend {
			t.Errorf("%s: the variants of backend are\n%swant\n%s", step.name, got, step.backend)
		}
	}
}

// A policy with the shadow label is part of the variants for the dataplanes on which a
// placement enforces it, and a change of the placement changes the variants.
func TestPoliciesEnforcedByPlacements(t *testing.T) {
	var world strings.Builder
	for _, zone := range []string{"", "east", "west"} {
		for _, label := range []string{"", "east", "west"} {
			for _, rack := range []string{"", "r1", "r2"} {
				tags, labels := "", ""
				if zone != "" {
					tags = ", kuma.io/zone: " + zone
				}
				if label != "" {
					labels += "kuma.io/zone: " + label + ", "
				}
				if rack != "" {
					labels += "rack: " + rack + ", "
				}
				fmt.Fprintf(&world, `
type: Dataplane
name: d%s-%s-%s
labels: {%s}
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web%s}}]
  outbound: [{port: 1, tags: {kuma.io/service: backend}}]
---`, zone, label, rack, strings.TrimSuffix(labels, ", "), tags)
			}
		}
	}
	world.WriteString(`
{type: MeshHTTPRoute, name: r, labels: {kuma.io/effect: shadow}, spec: {to: [{targetRef: {kind: MeshService, name: backend}, rules: []}]}}
---
{type: MeshTimeout, name: base, spec: {to: [{default: {connectionTimeout: 1s}}]}}
---
{type: MeshTimeout, name: canary, labels: {kuma.io/effect: shadow}, spec: {to: [{default: {connectionTimeout: 2s}}]}}
---
{type: MeshTimeout, name: on-route, labels: {kuma.io/effect: shadow}, spec: {targetRef: {kind: MeshHTTPRoute, name: r}, to: [{default: {idleTimeout: 3s}}]}}
---
apiVersion: policy.open-cluster-management.io/v1
kind: PlacementBinding
metadata: {name: b}
placementRef: {apiGroup: apps.open-cluster-management.io, kind: PlacementRule, name: p}
bindingOverrides: {remediationAction: enforce}
subjects:
  - {apiGroup: kuma.io, kind: MeshTimeout, name: canary}
  - {apiGroup: kuma.io, kind: MeshTimeout, name: on-route}
  - {apiGroup: kuma.io, kind: MeshHTTPRoute, name: r}
`)
	placement := func(spec string) string {
		return "apiVersion: apps.open-cluster-management.io/v1\nkind: PlacementRule\nmetadata: {name: p}\nspec: " + spec + "\n"
	}
	engine := engineOf(t, world.String())
	kind := kinds.All().Lookup("MeshTimeout")
	compiler := variant.NewPolicyCompiler(engine.View(), "default", kind)
	backend := destination(t, "backend")
	for name, c := range map[string]struct {
		spec     string
		variants int
	}{
		"one zone":           {"{clusters: [{name: east}]}", 2},
		"two zones, a label": {"{clusters: [{name: east}, {name: west}], dataplaneSelector: {matchLabels: {rack: r1}}}", 2},
		"every zone":         {"{clusterSelector: {}, dataplaneSelector: {matchExpressions: [{key: rack, operator: NotIn, values: [r1]}, {key: rack, operator: Exists}]}}", 2},
		"no label":           {"{clusters: [{name: west}], dataplaneSelector: {matchExpressions: [{key: rack, operator: DoesNotExist}]}}", 2},
		"some labels":        {"{clusters: [{name: west}], dataplaneSelector: {matchExpressions: [{key: rack, operator: In, values: [r1, r2]}]}}", 2},
		"no zone":            {"{clusters: []}", 1},
		"a label anywhere":   {"{dataplaneSelector: {matchLabels: {rack: r1}}}", 2},
		"anywhere":           {"{dataplaneSelector: {}}", 1},
		"some dataplanes":    {"{dataplanes: [{name: DATAPLANE-0}, {name: DATAPLANE-1}, {mesh: other, name: DATAPLANE-2}, {namespace: ns, name: DATAPLANE-3}]}", 2},
		"some in a zone":     {"{clusters: [{name: east}], dataplanes: [{name: DATAPLANE-0}, {name: DATAPLANE-1}, {name: DATAPLANE-4}, {name: DATAPLANE-5}]}", 2},
		"no dataplane":       {"{dataplanes: []}", 1},
	} {
		t.Run(name, func(t *testing.T) {
			spec := c.spec
			for i, d := range engine.View().Dataplanes("default")[:6] {
				spec = strings.Replace(spec, fmt.Sprint("DATAPLANE-", i), d.Name, 1)
			}
			if _, err := engine.Apply(t.Context(), core.Batch{Upsert: load(t, placement(spec))}); err != nil {
				t.Fatal(err)
			}
			compiler.Update(engine.View())
			v, err := compiler.Compilation(backend).Compile(variant.MaxPolicyVariants)
			if err != nil {
				t.Fatal(err)
			}
			if len(v.Contents) != c.variants {
				t.Errorf("%d variants, want %d:\n%s", len(v.Contents), c.variants, describe(t, v))
			}
			for _, d := range engine.View().Dataplanes("default") {
				config, err := engine.View().Config(d, kind.Name, core.Enforced)
				if err != nil {
					t.Fatal(err)
				}
				want := variant.ContentOf(config, 0)
				if got := v.Choose(variant.ParametersOf(d, 0)); !got.Equal(want, kind) {
					t.Errorf("%s: the variant has %+v, the engine %+v", d.Name, got, want)
				}
			}
		})
	}
}

// Only a change of its own placement, or a policy that takes part, makes a compilation
// outdated.
func TestUpdateIgnoresOtherPlacements(t *testing.T) {
	rule := func(name, zone string) string {
		return "---\napiVersion: apps.open-cluster-management.io/v1\nkind: PlacementRule\nmetadata: {name: " + name + "}\nspec: {clusters: [{name: " + zone + "}]}\n"
	}
	engine := engineOf(t, `
{type: MeshTimeout, name: base, spec: {to: [{default: {connectionTimeout: 1s}}]}}
---
{type: MeshTimeout, name: canary, labels: {kuma.io/effect: shadow}, spec: {to: [{default: {connectionTimeout: 2s}}]}}
---
apiVersion: policy.open-cluster-management.io/v1
kind: PlacementBinding
metadata: {name: b}
placementRef: {apiGroup: apps.open-cluster-management.io, kind: PlacementRule, name: own}
bindingOverrides: {remediationAction: enforce}
subjects: [{apiGroup: kuma.io, kind: MeshTimeout, name: canary}]
`+rule("own", "east"))
	compiler := variant.NewPolicyCompiler(engine.View(), "default", kinds.All().Lookup("MeshTimeout"))
	if _, err := compiler.Compilation(destination(t, "backend")).Compile(variant.MaxPolicyVariants); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		name, upsert string
		compiled     int
	}{
		{"another placement", rule("other", "east"), 0},
		{"a policy that informs everywhere", "{type: MeshTimeout, name: informs, labels: {kuma.io/effect: shadow}, spec: {to: [{default: {idleTimeout: 3s}}]}}", 0},
		{"its own placement", rule("own", "west"), 1},
	} {
		if _, err := engine.Apply(t.Context(), core.Batch{Upsert: load(t, step.upsert)}); err != nil {
			t.Fatal(err)
		}
		if again := compiler.Update(engine.View()); len(again) != step.compiled {
			t.Errorf("%s: %v is compiled again, want %d destinations", step.name, again, step.compiled)
		}
	}
}

// All destinations have the confs of a kind that has no `to`, and a change of one of its
// policies changes all of them, but a policy of another kind none.
func TestKindWithoutTo(t *testing.T) {
	metrics := func(period string) string {
		return "{type: MeshMetric, name: m, spec: {default: {sidecar: {includeUnused: " + period + "}}}}\n"
	}
	engine := engineOf(t, metrics("true"))
	compiler := variant.NewPolicyCompiler(engine.View(), "default", kinds.All().Lookup("MeshMetric"))
	if _, err := compiler.Compilation(destination(t, "backend")).Compile(variant.MaxPolicyVariants); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		upsert   string
		compiled int
	}{
		{metrics("false"), 1},
		{"{type: MeshTimeout, name: t, spec: {to: [{default: {idleTimeout: 3s}}]}}", 0},
	} {
		if _, err := engine.Apply(t.Context(), core.Batch{Upsert: load(t, step.upsert)}); err != nil {
			t.Fatal(err)
		}
		if again := compiler.Update(engine.View()); len(again) != step.compiled {
			t.Errorf("after %s: %v is compiled again, want %d destinations", step.upsert, again, step.compiled)
		}
	}
	v, err := compiler.Compilation(destination(t, "backend")).Compile(variant.MaxPolicyVariants)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := describe(t, v), "all: {\"sidecar\":{\"includeUnused\":false}}\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A compilation may limit the number of variants. Update returns its destination if it is
// outdated.
func TestCompilation(t *testing.T) {
	engine := engineOf(t, levels)
	compiler := variant.NewPolicyCompiler(engine.View(), "default", kinds.All().Lookup("MeshRetry"))
	backend := destination(t, "backend")
	own := compiler.Compilation(backend)
	var names []string
	for _, p := range own.Policies() {
		names = append(names, p.Name)
	}
	if got := strings.Join(names, " "); got != "all gateways team" {
		t.Errorf("the policies for backend are %s", got)
	}
	v, err := own.Compile(2)
	if err != nil {
		t.Fatal(err)
	}
	want := "team=a: {\"tcp\":{\"maxConnectAttempt\":2}}\nteam!=a: {\"tcp\":{\"maxConnectAttempt\":1}}\n"
	if got := describe(t, v); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	var limit *partition.LimitError
	if _, err := own.Compile(1); !errors.As(err, &limit) {
		t.Errorf("two variants, and the limit is one: got error %v", err)
	}
	if _, err := engine.Apply(t.Context(), core.Batch{Delete: []resource.ID{{Kind: "MeshRetry", Mesh: "default", Name: "all"}}}); err != nil {
		t.Fatal(err)
	}
	if again := compiler.Update(engine.View()); len(again) != 1 || again[0].Name() != backend.Name() {
		t.Errorf("%v must be compiled again, want backend", again)
	}

	cell, example, err := variant.Cell(own.Selectors(), variant.Parameters{"team": "b"})
	if err != nil {
		t.Fatal(err)
	}
	if cell.String() != "team!=a" || !cell.Accepts(example) || cell.Accepts(variant.Parameters{"team": "a"}) {
		t.Errorf("the cell is %s, with the example %v", cell, example)
	}
}

// Each route to a destination has a set: the parameters that it selects, and all others.
func TestRouteSets(t *testing.T) {
	engine := engineOf(t, `
{type: MeshHTTPRoute, name: r, spec: {targetRef: {kind: MeshService, name: web}, to: [{targetRef: {kind: MeshService, name: backend}, rules: []}]}}
---
{type: MeshHTTPRoute, name: s, spec: {targetRef: {kind: MeshService, name: web}, to: [{targetRef: {kind: MeshService, name: payments}, rules: []}]}}
`)
	sets, err := variant.NewPolicyCompiler(engine.View(), "default", kinds.All().Lookup("MeshTimeout")).Compilation(destination(t, "backend")).RouteSets()
	if err != nil {
		t.Fatal(err)
	}
	if len(sets) != 1 || sets[0].Len() != 2 || sets[0].Uncovered() != nil {
		t.Fatalf("%d sets, want one with two variants", len(sets))
	}
	selected, _ := sets[0].Choose(variant.Parameters{"kuma.io/service": "web"})
	other, _ := sets[0].Choose(variant.Parameters{"kuma.io/service": "api"})
	if selected == other {
		t.Error("the route selects all parameters")
	}
}

// Contents are equal if they have the same routes with equal confs.
func TestContentsWithRoutes(t *testing.T) {
	kind := meshtimeout.Kind()
	policies := load(t, `
{type: MeshHTTPRoute, name: r, spec: {to: [{targetRef: {kind: MeshService, name: backend}, rules: []}]}}
---
{type: MeshHTTPRoute, name: s, spec: {to: [{targetRef: {kind: MeshService, name: backend}, rules: []}]}}
---
{type: MeshTimeout, name: a, spec: {to: [{targetRef: {kind: Mesh}, default: {connectionTimeout: 1s}}, {targetRef: {kind: Mesh}, default: {connectionTimeout: 2s}}]}}
`).Policies
	timeouts := slices.IndexFunc(policies, func(p *resource.Policy) bool { return p.Kind == "MeshTimeout" })
	one, two := policies[timeouts].To[0].Conf, policies[timeouts].To[1].Conf
	routes := slices.DeleteFunc(slices.Clone(policies), func(p *resource.Policy) bool { return !p.IsRoute() })
	content := func(route int, conf resource.Conf) *variant.PolicyContent {
		return &variant.PolicyContent{Conf: one, Routes: []variant.RouteConf{{Route: routes[route], Conf: conf}}}
	}
	for _, other := range []*variant.PolicyContent{content(0, two), content(1, one), {Conf: one}, {Routes: content(0, one).Routes}} {
		if content(0, one).Equal(other, kind) {
			t.Errorf("%+v equals %+v", content(0, one), other)
		}
	}
	if !content(0, one).Equal(content(0, one), kind) {
		t.Error("equal contents are different")
	}
}

// The variants of a fleet have the confs that the engine computes for its dataplanes.
// Here, each dataplane has one inbound.
func TestFleet(t *testing.T) {
	const outbounds = 5
	kind := meshtimeout.Kind()
	set := resource.Set{Policies: shape.Fleet(kind, 1_000)}
	for j := range 300 {
		d := shape.Dataplane(j, outbounds)
		d.Inbounds = d.Inbounds[j%2 : j%2+1]
		set.Dataplanes = append(set.Dataplanes, d)
	}
	view, err := core.Options{Semantics: core.TargetRef}.NewView(t.Context(), resource.NewKinds(kind), &set)
	if err != nil {
		t.Fatal(err)
	}
	compiler := variant.NewPolicyCompiler(view, shape.Mesh, kind)
	for out := range outbounds {
		v, err := compiler.Compilation(fleetDestination(out)).Compile(variant.MaxPolicyVariants)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range set.Dataplanes {
			want := variant.ContentOf(view.Configs(d, core.Enforced)[0], out)
			if got := v.Choose(variant.ParametersOf(d, 0)); want.Conf == nil || !got.Equal(want, kind) {
				t.Fatalf("%s has %v, the engine %v", d.Name, got.Conf, want.Conf)
			}
		}
	}
}

func TestDestinationNames(t *testing.T) {
	for text, name := range map[string]string{
		"backend":                              "default/backend",
		"backend?version=v1&kuma.io/zone=east": "default/backend?kuma.io/zone=east&version=v1",
	} {
		if d := destination(t, text); d.Name() != name || "default/"+d.String() != name {
			t.Errorf("%s is %s, %s; want %s", text, d.Name(), d, name)
		}
	}
	for _, text := range []string{"", "?version=v1", "backend?", "backend?version", "backend?=v1", "backend?a=1&a=2", "backend?kuma.io/service=x"} {
		if d, ok := variant.ParseDestination("default", text); ok {
			t.Errorf("%q is the destination %s", text, d)
		}
	}
}

func TestParametersOf(t *testing.T) {
	set := load(t, `
type: Dataplane
name: web-1
labels: {app: web, k8s.kuma.io/namespace: ns}
networking:
  address: 10.0.0.1
  inbound:
    - {port: 80, tags: {kuma.io/service: web, version: v1}}
    - {port: 81, name: admin, tags: {kuma.io/service: web-admin}}
`)
	for inbound, want := range map[int]string{
		0:  "{@label/app=web, @label/k8s.kuma.io/namespace=ns, @name=web-1, @namespace=ns, @section=80, kuma.io/service=web, version=v1}",
		1:  "{@label/app=web, @label/k8s.kuma.io/namespace=ns, @name=web-1, @namespace=ns, @section=admin, kuma.io/service=web-admin}",
		-1: "{@label/app=web, @label/k8s.kuma.io/namespace=ns, @name=web-1, @namespace=ns}",
		2:  "{@label/app=web, @label/k8s.kuma.io/namespace=ns, @name=web-1, @namespace=ns}",
	} {
		if got := variant.FormatParameters(variant.ParametersOf(set.Dataplanes[0], inbound)); got != want {
			t.Errorf("inbound %d: %s, want %s", inbound, got, want)
		}
	}
}
