package variant_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/variant"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

func loadDocuments(text string) (*resource.Set, error) {
	loader := resource.Loader{Kinds: kinds.All(), Documents: variant.Documents()}
	return loader.Decode(context.Background(), resource.Input{Name: "in.yaml", Data: []byte(text)})
}

func TestVariantsDocument(t *testing.T) {
	set, err := loadDocuments(`
type: ResourceVariants
name: routes
variants:
- constraints: {constraint: {key: env, value: prod}}
  content: {n: -1, big: 18446744073709551615, x: 1.5, yes: true, list: [a, {b: c}], empty: {}}
- constraints: {and_constraints: {constraints: [{constraint: {key: env, value: prod}}, {not_constraints: {constraint: {key: env, exists: {}}}}]}}
`)
	if err != nil {
		t.Fatal(err)
	}
	var warnings []string
	for _, w := range set.Warnings {
		warnings = append(warnings, w.Error())
	}
	want := []string{
		"in.yaml:5:1: variants: no variant accepts the parameters {}; for such a client the resource does not exist; add a variant for them if there are such clients",
		"in.yaml:7:3: variants[1]: the constraints accept no parameters, so the variant is never chosen; remove it",
	}
	if strings.Join(warnings, "\n") != strings.Join(want, "\n") {
		t.Errorf("warnings\n%s\nwant\n%s", strings.Join(warnings, "\n"), strings.Join(want, "\n"))
	}
	for meta, d := range resource.DocumentsOf[variant.VariantsDocument](set) {
		content, err := json.Marshal(d.Variants)
		if meta.Name != "routes" || err != nil {
			t.Fatal(meta.Name, err)
		}
		const want = `{"big":18446744073709551615,"empty":{},"list":["a",{"b":"c"}],"n":-1,"x":1.5,"yes":true}`
		if !strings.Contains(string(content), want) {
			t.Errorf("got %s, want %s", content, want)
		}
		if none, err := json.Marshal(d.Variants[1].Content); err != nil || string(none) != "{}" {
			t.Errorf("no content is %s, %v", none, err)
		}
		admitted, err := d.Set()
		if err != nil || fmt.Sprint(admitted.Unsatisfiable()) != "[1]" || admitted.Uncovered() == nil {
			t.Errorf("%v, %v", admitted, err)
		}
	}
}

func TestDocumentErrors(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"two variants accept the same", "type: ResourceVariants\nname: r\nvariants:\n- {}\n- {}\n",
			"in.yaml:5:3: variants[1]: the constraints accept the parameters {}, and so does variants[0]; at most one variant may accept the same parameters"},
		{"one variant has another key", "type: ResourceVariants\nname: r\nvariants:\n- constraints: {constraint: {key: env, value: prod}}\n- constraints: {andConstraints: {constraints: [{constraint: {key: env, value: test}}, {constraint: {key: version, value: v1}}]}}\n",
			"in.yaml:4:3: variants[0]: the constraints do not name the key version; variants[1] names version; all variants must name the same keys; one that makes no difference is or(exists, not exists)"},
		{"only the mistake of an invalid constraint", "type: ResourceVariants\nname: r\nvariants:\n- {}\n- constraints: {constraint: {}}\n",
			"in.yaml:5:29: variants[1].constraints.constraint.key: the key must not be empty"},
		{"variants are required", "type: ResourceVariants\nname: r\n", "in.yaml:1:1: variants: required field is missing"},
		{"a null in a content", "type: ResourceFragments\nname: r\nfragments:\n- content: {a: null}\n",
			"in.yaml:4:16: fragments[0].content.a: must not be null; leave the field out instead"},
		{"a content that is not a mapping", "type: ResourceFragments\nname: r\nfragments:\n- content: [a]\n",
			"in.yaml:4:12: fragments[0].content: content must be a mapping"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := loadDocuments(test.text)
			if err == nil || err.Error() != test.want {
				t.Errorf("got error\n%v\nwant\n%s", err, test.want)
			}
		})
	}
}

func TestFragmentsDocument(t *testing.T) {
	set, err := loadDocuments(`
type: ResourceFragments
name: routes
fragments:
- content: {a: 1}
- constraints: {orConstraints: {}}
  content: {a: 2}
`)
	if err != nil || len(set.Warnings) != 1 || set.Warnings[0].Path != "fragments[1]" {
		t.Fatal(err, set.Warnings)
	}
	for _, d := range resource.DocumentsOf[variant.FragmentsDocument](set) {
		compiled, contents, err := d.Compile()
		if err != nil || compiled.Len() != 1 || fmt.Sprint(contents) != "[map[a:1]]" {
			t.Errorf("%v, %v", contents, err)
		}
	}
}

// Contents of every pair of shapes are merged with a third one below.
func TestCompileContents(t *testing.T) {
	c := parse(t, `{}`, prod)
	for _, test := range []struct{ name, low, middle, high, with, without string }{
		{"mappings", `{"m": {"a": 1, "b": 1}}`, `{"m": {"b": 2, "c": 2}}`, `{"m": {"c": 3}}`, `{"m":{"a":1,"b":2,"c":3}}`, `{"m":{"a":1,"b":1,"c":3}}`},
		{"lists", `{"l": [1]}`, `{"l": [2]}`, `{"l": [3]}`, `{"l":[1,2,3]}`, `{"l":[1,3]}`},
		{"an empty list adds nothing", `{"l": [1]}`, `{"l": []}`, `{"l": [3]}`, `{"l":[1,3]}`, `{"l":[1,3]}`},
		{"a scalar hides a mapping", `{"x": {"a": 1}}`, `{"x": "s"}`, `{"x": {"b": 3}}`, `{"x":{"b":3}}`, `{"x":{"a":1,"b":3}}`},
		{"a list hides a mapping", `{"x": {"a": 1}}`, `{"x": []}`, `{"x": {"b": 3}}`, `{"x":{"b":3}}`, `{"x":{"a":1,"b":3}}`},
		{"a mapping hides a list", `{"x": [1]}`, `{"x": {}}`, `{"x": [3]}`, `{"x":[3]}`, `{"x":[1,3]}`},
		{"scalars", `{"x": 1}`, `{"x": 2}`, `{}`, `{"x":2}`, `{"x":1}`},
		{"a mapping over a list", `{"x": [1]}`, `{"x": {"a": 2}}`, `{}`, `{"x":{"a":2}}`, `{"x":[1]}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var fragments []variant.Fragment
			for i, text := range []string{test.low, test.middle, test.high} {
				var content map[string]any
				if err := json.Unmarshal([]byte(text), &content); err != nil {
					t.Fatal(err)
				}
				fragments = append(fragments, variant.Fragment{Constraints: c[i%2], Content: content})
			}
			set, contents, err := variant.Compile(fragments)
			if err != nil {
				t.Fatal(err)
			}
			for want, p := range map[string]variant.Parameters{test.with: {"env": "prod"}, test.without: {}} {
				chosen, _ := set.Choose(p)
				if got, err := json.Marshal(contents[chosen]); err != nil || string(got) != want {
					t.Errorf("%v has %s, %v, want %s", p, got, err, want)
				}
			}
			if want := 2; test.with == test.without && set.Len() != 1 || test.with != test.without && set.Len() != want {
				t.Errorf("%d variants", set.Len())
			}
		})
	}
}

// A dataplane is served by the variant that all of its inbounds choose. One whose inbounds
// choose different variants is among the others, and so is a gateway that a policy selects as
// such.
func TestUsageOf(t *testing.T) {
	const text = `
{type: Dataplane, name: a, networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: x}}], outbound: [{port: 1, tags: {kuma.io/service: backend}}]}}
---
{type: Dataplane, name: b, networking: {address: 10.0.0.2, inbound: [{port: 80, tags: {kuma.io/service: w}}], outbound: [{port: 1, tags: {kuma.io/service: backend}}]}}
---
{type: Dataplane, name: both, networking: {address: 10.0.0.3, inbound: [{port: 80, tags: {kuma.io/service: x}}, {port: 81, tags: {kuma.io/service: y}}], outbound: [{port: 1, tags: {kuma.io/service: backend}}]}}
---
{type: Dataplane, name: same, networking: {address: 10.0.0.4, inbound: [{port: 80, tags: {kuma.io/service: x}}, {port: 81, tags: {kuma.io/service: w}}], outbound: [{port: 1, tags: {kuma.io/service: backend}}]}}
---
{type: Dataplane, name: twice, networking: {address: 10.0.0.4, inbound: [{port: 80, tags: {kuma.io/service: x}}, {port: 81, tags: {kuma.io/service: x}}], outbound: [{port: 1, tags: {kuma.io/service: backend}}]}}
---
{type: Dataplane, name: edge, networking: {address: 10.0.0.6, gateway: {type: DELEGATED, tags: {kuma.io/service: x}}, outbound: [{port: 1, tags: {kuma.io/service: backend}}]}}
---
{type: Dataplane, name: alone, networking: {address: 10.0.0.6, gateway: {type: DELEGATED, tags: {kuma.io/service: z}}, outbound: [{port: 1, tags: {kuma.io/service: backend}}]}}
---
{type: Dataplane, name: elsewhere, networking: {address: 10.0.0.5, outbound: [{port: 1, tags: {kuma.io/service: payments}}]}}
---
{type: MeshTimeout, name: x, spec: {targetRef: {kind: MeshService, name: x}, to: [{default: {connectionTimeout: 3s}}]}}
---
{type: MeshTimeout, name: y, spec: {targetRef: {kind: MeshService, name: y}, to: [{default: {idleTimeout: 4s}}]}}
---
{type: MeshTimeout, name: z, spec: {targetRef: {kind: MeshSubset, tags: {kuma.io/service: z}, proxyTypes: [Gateway]}, to: [{default: {idleTimeout: 5s}}]}}
`
	view := engineOf(t, text).View()
	v, err := variant.NewPolicyCompiler(view, "default", kinds.All().Lookup("MeshTimeout")).Compilation(destination(t, "backend")).Compile(variant.MaxPolicyVariants)
	if err != nil {
		t.Fatal(err)
	}
	usage, err := variant.NewInbounds(view, "default").UsageOf(v)
	if err != nil {
		t.Fatal(err)
	}
	served := map[string]int{}
	for i, n := range usage.Served {
		served[v.Set.Short(i)] = n
	}
	want := map[string]int{"kuma.io/service=x": 3, "kuma.io/service=y": 0, "kuma.io/service!=x & kuma.io/service!=y": 1}
	if fmt.Sprint(served) != fmt.Sprint(want) || usage.Dataplanes != 7 {
		t.Errorf("%d dataplanes, served %v, want %v", usage.Dataplanes, served, want)
	}
	var others []string
	for _, d := range usage.Others {
		others = append(others, d.Name)
	}
	if got := strings.Join(others, " "); got != "alone both same" {
		t.Errorf("others %s", got)
	}
}

// An error about the first variant of a list has the path of the variant; a warning about all
// variants has the path of the list.
func TestPathsOfWarnings(t *testing.T) {
	set, err := variant.NewSet(parse(t, and(prod, test), prod))
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, w := range set.Warnings() {
		paths = append(paths, w.Path())
	}
	if got := strings.Join(paths, " "); got != "variants[0] variants" {
		t.Errorf("the warnings are about %s", got)
	}
	documents, err := loadDocuments("type: ResourceFragments\nname: r\nfragments:\n- constraints: {orConstraints: {}}\n")
	if err != nil {
		t.Fatal(err)
	}
	if len(documents.Warnings) != 1 || !strings.HasPrefix(documents.Warnings[0].Error(), "in.yaml:4:3: fragments[0]: ") {
		t.Errorf("warnings %v", documents.Warnings)
	}
}

// Dataplanes with the same conf are served by different variants if their routes have
// different confs.
func TestUsageOfRoutes(t *testing.T) {
	dataplane := func(name string) string {
		return "---\n{type: Dataplane, name: " + name + ", networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: " + name + "}}], outbound: [{port: 1, tags: {kuma.io/service: backend}}]}}\n"
	}
	route := func(name string) string {
		return "---\n{type: MeshHTTPRoute, name: " + name + ", spec: {targetRef: {kind: MeshService, name: " + name + "}, to: [{targetRef: {kind: MeshService, name: backend}, rules: []}]}}\n"
	}
	view := engineOf(t, `
{type: MeshTimeout, name: a, spec: {to: [{targetRef: {kind: MeshService, name: backend}, default: {connectionTimeout: 1s}}]}}
---
{type: MeshTimeout, name: b, spec: {to: [{targetRef: {kind: MeshHTTPRoute, name: r}, default: {connectionTimeout: 2s}}]}}
---
{type: MeshTimeout, name: c, spec: {to: [{targetRef: {kind: MeshHTTPRoute, name: s}, default: {connectionTimeout: 3s}}]}}
`+dataplane("r")+dataplane("s")+dataplane("none")+route("r")+route("s")).View()
	v, err := variant.NewPolicyCompiler(view, "default", kinds.All().Lookup("MeshTimeout")).Compilation(destination(t, "backend")).Compile(variant.MaxPolicyVariants)
	if err != nil {
		t.Fatal(err)
	}
	usage, err := variant.NewInbounds(view, "default").UsageOf(v)
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(usage.Served) != "[1 1 1]" || len(usage.Others) != 0 {
		t.Errorf("served %v, others %v, want one dataplane for each of three variants", usage.Served, usage.Others)
	}
}
