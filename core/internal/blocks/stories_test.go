package blocks_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/golden"
	"github.com/meshmatch/meshmatch/core/internal/partition"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/kind/meshtimeout"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// TestStories evaluates the policies of each story for the dataplane in
// testdata/stories and compares the config of a kind, printed as text, with the
// section that has the kind's name. UPDATE=1 writes the sections.
func TestStories(t *testing.T) {
	dataplane, err := os.ReadFile("testdata/stories/dataplane.yaml")
	if err != nil {
		t.Fatal(err)
	}
	golden.Archives(t, "testdata/stories/*.txtar", func(_ *testing.T, archive *txtar.Archive) golden.Answer {
		policies := &archive.Files[0]
		return func(t *testing.T, f *txtar.File) (string, bool) {
			if f == policies {
				return "", false
			}
			return render(t, configOf(t, kinds.All(), f.Name, string(dataplane)+"---\n"+string(policies.Data))), true
		}
	})
}

// configOf returns the config of the only dataplane of a text.
func configOf(t *testing.T, all *resource.Kinds, kind, text string) *results.Config {
	t.Helper()
	view := viewOf(t, all, text)
	config, err := view.Config(view.Dataplanes("default")[0], kind, core.Enforced)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func viewOf(t *testing.T, all *resource.Kinds, text string) *core.View {
	t.Helper()
	loader := resource.Loader{Kinds: all}
	set, err := loader.Decode(t.Context(), resource.Input{Name: "test.yaml", Data: []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	view, err := core.Options{Semantics: core.TargetRef}.NewView(t.Context(), all, set)
	if err != nil {
		t.Fatal(err)
	}
	return view
}

// render prints a config, a line for each conf.
func render(t *testing.T, c *results.Config) string {
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
		for _, item := range in.Unmerged {
			line("inbound %d, unmerged %s[%d]: %s", i, item.Policy.Name, item.Index, text(t, item.Conf))
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
func views(from *results.From) func(func(string, func(partition.Limits) ([]results.SelectorRule, error)) bool) {
	return func(yield func(string, func(partition.Limits) ([]results.SelectorRule, error)) bool) {
		_ = yield("disjoint", from.Disjoint) && yield("ordered", from.Ordered)
	}
}

// show prints a conf, its origins and the origin of each field.
func show(t *testing.T, e *results.Effective) string {
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

// An embedder's kind may allow targetRefs in `to` that SPEC 2.4 does not allow
// for the built-in kinds.
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
