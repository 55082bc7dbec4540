package rules_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/kind/meshloadbalancingstrategy"
	"github.com/meshmatch/meshmatch/core/kind/meshtimeout"
	"github.com/meshmatch/meshmatch/core/kind/meshtrafficpermission"
	"github.com/meshmatch/meshmatch/core/partition"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// TestStories evaluates the policies of each story for the dataplane in
// testdata/stories and compares the config of a kind, printed as text, with the
// section that has the kind's name. UPDATE=1 writes the sections.
func TestStories(t *testing.T) {
	dataplane, err := os.ReadFile("testdata/stories/dataplane.yaml")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("testdata/stories/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d stories: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			policies, want := archive.Files[0], &archive.Files[1]
			config := configOf(t, kinds.All(), want.Name, string(dataplane)+"---\n"+string(policies.Data))
			got := render(t, config)
			if os.Getenv("UPDATE") != "" && !bytes.Equal(want.Data, []byte(got)) {
				want.Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(want.Data), got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// configOf returns the config of the only dataplane of a text.
func configOf(t *testing.T, all *resource.Kinds, kind, text string) *rules.Config {
	t.Helper()
	view := viewOf(t, all, text)
	return view.Config(view.Dataplanes("default")[0], kind, core.Enforced)
}

func viewOf(t *testing.T, all *resource.Kinds, text string) *core.View {
	t.Helper()
	loader := resource.Loader{Kinds: all}
	set, err := loader.Decode(resource.Input{Name: "test.yaml", Data: []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	view, err := core.NewView(all, set)
	if err != nil {
		t.Fatal(err)
	}
	return view
}

// render prints a config, a line for each conf.
func render(t *testing.T, c *rules.Config) string {
	var out strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	if c.Default != nil {
		line("default: %s", show(t, c.Default))
	}
	for i, o := range c.Outbounds {
		line("outbound %d: %s", i, show(t, o.Effective))
		for _, r := range o.Routes {
			line("outbound %d, %s %s: %s", i, r.Route.Kind, r.Route.Name, show(t, r.Effective))
		}
	}
	if c.Kind.To != nil {
		view, err := c.ToRules(partition.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range view {
			line("rule of to, %s: %s", r.Selector, show(t, r.Effective))
		}
	}
	for i, in := range c.Inbounds {
		for _, r := range in.Rules {
			line("inbound %d, match %s: %s", i, text(t, r.Match), show(t, r.Effective))
		}
		if in.From != nil {
			for form, view := range views(in.From) {
				list, err := view(partition.Limits{})
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range list {
					line("inbound %d, %s clients %s: %s", i, form, r.Selector, show(t, r.Effective))
				}
			}
		}
		if in.FromIgnored {
			line("inbound %d: from is ignored", i)
		}
	}
	return out.String()
}

// views yields both forms of the rule view of `from`.
func views(from *rules.From) func(func(string, func(partition.Limits) ([]rules.SelectorRule, error)) bool) {
	return func(yield func(string, func(partition.Limits) ([]rules.SelectorRule, error)) bool) {
		_ = yield("disjoint", from.Disjoint) && yield("ordered", from.Ordered)
	}
}

// show prints a conf, its origins and the origin of each field.
func show(t *testing.T, e *rules.Effective) string {
	t.Helper()
	if e == nil {
		return "none"
	}
	out := text(t, e.Conf)
	for _, o := range e.Origins {
		out += fmt.Sprintf(" %s[%d]", o.Policy.Name, o.Index)
	}
	var fields []string
	for pointer, o := range e.Fields() {
		fields = append(fields, fmt.Sprintf("%s %s[%d]", pointer, o.Policy.Name, o.Index))
	}
	return out + " (" + strings.Join(fields, ", ") + ")"
}

func text(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// An embedder's kind may allow other targetRefs in `to` than SPEC 2.4 gives to
// the built-in kinds.
func TestTargetsOfAnEmbeddersKind(t *testing.T) {
	kind := &resource.Kind{
		Name: "Patience", Short: "p", Top: resource.TopTargets,
		To: &resource.Section{
			Targets: resource.ToTargets | resource.Targets(resource.TargetMeshSubset, resource.TargetMeshTCPRoute),
			Conf:    meshtimeout.Kind().To.Conf,
		},
	}
	config := configOf(t, resource.NewKinds(append(kinds.BuiltIn(), kind)...), "Patience", `
type: Dataplane
name: web-1
networking:
  address: 10.0.0.1
  outbound:
    - {port: 1, tags: {kuma.io/service: backend}}
    - {port: 2, tags: {kuma.io/service: backend, version: v2}}
    - {port: 3, tags: {kuma.io/service: payments}}
---
type: MeshTCPRoute
name: r
spec: {to: [{targetRef: {kind: MeshService, name: payments}, rules: []}]}
---
type: MeshHTTPRoute
name: r
spec: {to: [{targetRef: {kind: MeshService, name: payments}, rules: []}]}
---
type: Patience
name: a
spec:
  to:
    - {targetRef: {kind: MeshSubset, tags: {version: v2}}, default: {connectionTimeout: 1s}}
    - {targetRef: {kind: MeshSubset, tags: {version: v1}}, default: {connectionTimeout: 2s}}
    - {targetRef: {kind: MeshTCPRoute, name: r}, default: {idleTimeout: 3s}}
`)
	var got []string
	for _, o := range config.Outbounds {
		got = append(got, show(t, o.Effective))
		for _, r := range o.Routes {
			got = append(got, r.Route.Kind+" "+show(t, r.Effective))
		}
	}
	want := []string{
		"none",
		`{"connectionTimeout":"1s"} a[0] (/connectionTimeout a[0])`,
		"none", "MeshHTTPRoute none", `MeshTCPRoute {"idleTimeout":"3s"} a[2] (/idleTimeout a[2])`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// For each client, the conf without rules, the only disjoint rule and the first
// ordered rule agree (SPEC 5.3).
func TestFormsOfFromAgree(t *testing.T) {
	balancing := &resource.Kind{
		Name: "Balancing", Short: "b", Top: resource.TopTargets,
		From: &resource.Section{Targets: resource.FromTargets, Conf: meshloadbalancingstrategy.Kind().To.Conf},
	}
	timeout := meshtimeout.Kind()
	for name, c := range map[string]struct {
		kind    *resource.Kind
		from    string
		clients map[string]string // conf by client, which is key=value pairs
	}{
		"selectors that overlap": {timeout, `
    - default: {idleTimeout: 1s}
    - {targetRef: {kind: MeshSubset, tags: {zone: east}}, default: {connectionTimeout: 2s}}
    - {targetRef: {kind: MeshServiceSubset, name: x, tags: {kuma.io/service: y}}, default: {idleTimeout: 9s}}
    - {targetRef: {kind: MeshService, name: web}, default: {idleTimeout: 3s}}`,
			map[string]string{
				"":                              `{"idleTimeout":"1s"}`,
				"zone=east":                     `{"connectionTimeout":"2s","idleTimeout":"1s"}`,
				"zone=west kuma.io/service=web": `{"idleTimeout":"3s"}`,
				"zone=east kuma.io/service=web": `{"connectionTimeout":"2s","idleTimeout":"3s"}`,
			}},
		"a union that hides an item": {balancing, `
    - default: {loadBalancer: {type: RingHash, ringHash: {minRingSize: 1}}}
    - {targetRef: {kind: MeshSubset, tags: {hidden: "*"}}, default: {loadBalancer: {type: RoundRobin}}}
    - default: {loadBalancer: {type: RingHash, ringHash: {maxRingSize: 9}}}`,
			map[string]string{
				"":           `{"loadBalancer":{"type":"RingHash","ringHash":{"minRingSize":1,"maxRingSize":9}}}`,
				"hidden=yes": `{"loadBalancer":{"type":"RingHash","ringHash":{"maxRingSize":9}}}`,
			}},
		"an item that sets everything": {meshtrafficpermission.Kind(), `
    - {targetRef: {kind: MeshSubset, tags: {zone: east}}, default: {action: Deny}}
    - {targetRef: {kind: MeshService, name: web}, default: {action: Allow}}`,
			map[string]string{
				"zone=east":                     `{"action":"Deny"}`,
				"kuma.io/service=web":           `{"action":"Allow"}`,
				"zone=east kuma.io/service=web": `{"action":"Allow"}`,
			}},
	} {
		t.Run(name, func(t *testing.T) {
			loader := resource.Loader{Kinds: resource.NewKinds(c.kind)}
			set, err := loader.Decode(resource.Input{Name: "test.yaml", Data: []byte("type: " + c.kind.Name + "\nname: p\nspec:\n  from:" + c.from + "\n")})
			if err != nil {
				t.Fatal(err)
			}
			from := rules.NewFrom(c.kind, set.Policies)
			for client, want := range c.clients {
				tags := map[string]string{}
				for _, pair := range strings.Fields(client) {
					key, value, _ := strings.Cut(pair, "=")
					tags[key] = value
				}
				if got := text(t, from.Client(tags).Conf); got != want {
					t.Errorf("client %q: got %s, want %s", client, got, want)
				}
				for form, view := range views(from) {
					list, err := view(partition.Limits{})
					if err != nil {
						t.Fatal(err)
					}
					var matching []*rules.Effective
					for _, r := range list {
						if r.Selector.Matches(tags) {
							matching = append(matching, r.Effective)
						}
					}
					if len(matching) == 0 || form == "disjoint" && len(matching) > 1 || text(t, matching[0].Conf) != want {
						t.Errorf("client %q: %d %s rules match; want one with %s first", client, len(matching), form, want)
					}
				}
			}
		})
	}
}

func TestLimitOfRules(t *testing.T) {
	loader := resource.Loader{Kinds: kinds.All()}
	set, err := loader.Decode(resource.Input{Name: "test.yaml", Data: []byte(`
type: MeshTimeout
name: a
spec: {from: [{default: {idleTimeout: 1s}}, {targetRef: {kind: MeshSubset, tags: {zone: east}}, default: {connectionTimeout: 2s}}]}
---
type: MeshTimeout
name: b
spec: {from: [{targetRef: {kind: MeshService, name: web}, default: {idleTimeout: 3s}}]}
`)})
	if err != nil {
		t.Fatal(err)
	}
	for form, view := range views(rules.NewFrom(meshtimeout.Kind(), set.Policies)) {
		_, err := view(partition.Limits{Rules: 2})
		var limit *rules.LimitError
		var cause *partition.LimitError
		want := "needs more than 2 rules; the policies b, a differ by the tags kuma.io/service, zone"
		if !errors.As(err, &limit) || !errors.As(err, &cause) || cause.Limit != 2 || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want one with %q", form, err, want)
		}
	}
}

// A message has the first ten policies and keys.
func TestLimitErrorIsShort(t *testing.T) {
	e := rules.LimitError{Limit: &partition.LimitError{Limit: 9, Resource: "rules"}}
	for i := range 12 {
		e.Policies = append(e.Policies, policy("MeshTimeout", fmt.Sprintf("p%d", i), resource.TargetRef{}))
		e.Keys = append(e.Keys, fmt.Sprintf("k%d", i))
	}
	want := "the rule view needs more than 9 rules; the policies p0, p1, p2, p3, p4, p5, p6, p7, p8, p9 and 2 more differ by the tags k0, k1, k2, k3, k4, k5, k6, k7, k8, k9 and 2 more"
	if e.Error() != want {
		t.Errorf("got %s", e.Error())
	}
}

// An item that contradicts itself selects no client and is left out.
func TestOriginsOfFrom(t *testing.T) {
	p := policy("MeshTimeout", "p", resource.TargetRef{})
	service := func(name string) resource.TargetRef {
		return resource.TargetRef{Kind: resource.TargetMeshServiceSubset, Name: name, Tags: resource.NewTags(map[string]string{"kuma.io/service": "b"})}
	}
	for _, target := range []resource.TargetRef{service("a"), service("b"), {Kind: resource.TargetMesh}} {
		p.From = append(p.From, resource.Item{TargetRef: target, Conf: &meshtimeout.Conf{}})
	}
	got := rules.NewFrom(meshtimeout.Kind(), []*resource.Policy{p}).Origins()
	if want := []rules.Origin{{Policy: p, Index: 1}, {Policy: p, Index: 2}}; !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}
