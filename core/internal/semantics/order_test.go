package semantics_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/resourcetest"
	"github.com/meshmatch/meshmatch/core/internal/resultstest"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Each case has policies of one kind, lowest priority first: the name, the labels and the
// top-level targetRef of each.
func TestOrder(t *testing.T) {
	for _, c := range []struct {
		name     string
		by       semantics.Semantics
		policies []string
	}{
		{"levels", semantics.Kuma, []string{
			"a {} {kind: Mesh}",
			"b {} {kind: Dataplane}",
			"c {} {kind: MeshSubset, tags: {a: b}}",
			"d {} {kind: MeshGateway, name: g}",
			"e {} {kind: MeshService, name: s}",
			"f {} {kind: MeshServiceSubset, name: s, tags: {a: b}}",
			"g {} {kind: MeshHTTPRoute, name: r}",
		}},
		{"the first in the alphabet overrides", semantics.Kuma, []string{"zz {} {}", "b {} {}", "aa {} {}"}},
		{"the last in the alphabet overrides", semantics.TargetRef, []string{"aa {} {}", "b {} {}", "zz {} {}"}},
		{"display names", semantics.Kuma, []string{"a {kuma.io/display-name: z} {}", "b {} {}", "z {kuma.io/display-name: a} {}"}},
		{"origins", semantics.Kuma, []string{"a {kuma.io/origin: global} {}", "b {} {}", "c {kuma.io/origin: zone} {}"}},
		{"roles", semantics.Kuma, []string{
			"a {kuma.io/policy-role: system} {}", "b {kuma.io/policy-role: producer} {}",
			"c {kuma.io/policy-role: consumer} {}", "d {kuma.io/policy-role: workload-owner} {}",
		}},
		{"an origin over a role", semantics.Kuma, []string{"a {kuma.io/origin: global, kuma.io/policy-role: workload-owner} {}", "b {kuma.io/origin: zone} {}"}},
		{"a level over an origin", semantics.Kuma, []string{"a {kuma.io/origin: zone} {}", "b {kuma.io/origin: global} {kind: Dataplane}"}},
		{"a name over a section", semantics.Kuma, []string{
			"a {} {kind: Dataplane, labels: {a: b}}", "b {} {kind: Dataplane, labels: {a: b}, sectionName: http}",
			"c {} {kind: Dataplane, name: d}", "d {} {kind: Dataplane, name: d, sectionName: http}",
		}},
		{"names are not read", semantics.Kuma3, []string{"c {} {kind: Dataplane, name: d}", "b {} {kind: Dataplane}", "a {} {kind: Dataplane, sectionName: http}"}},
		{"tags of gateways", semantics.Kuma, []string{"a {} {kind: MeshGateway, name: g}", "b {} {kind: MeshGateway, name: g, tags: {a: b}}"}},
		{"tags of gateways are not read", semantics.Kuma3, []string{"b {} {kind: MeshGateway, name: g, tags: {a: b}}", "a {} {kind: MeshGateway, name: g}"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			policies := load(t, c.policies)
			if err := resultstest.CheckTotal(c.by.Order(), policies); err != nil {
				t.Error(err)
			}
			sorted := slices.Clone(policies)
			slices.SortFunc(sorted, c.by.Order())
			var names []string
			for _, p := range sorted {
				names = append(names, p.Name)
			}
			var want []string
			for _, p := range c.policies {
				want = append(want, p[:strings.IndexByte(p, ' ')])
			}
			if !slices.Equal(names, want) {
				t.Errorf("order %v, want %v", names, want)
			}
		})
	}
}

func load(t *testing.T, policies []string) []*resource.Policy {
	var text strings.Builder
	for _, p := range policies {
		name, rest, _ := strings.Cut(p, " ")
		end := strings.IndexByte(rest, '}') + 1
		text.WriteString("---\n{type: MeshTimeout, mesh: default, name: " + name + ", labels: " + rest[:end] +
			", spec: {targetRef: " + rest[end+1:] + ", to: [{default: {idleTimeout: 1s}}]}}\n")
	}
	set := resourcetest.Decode(t, text.String())
	return set.Policies
}

func TestDetect(t *testing.T) {
	loader := resource.Loader{Kinds: kinds.All()}
	for _, c := range []struct {
		name, text string
		want       semantics.Semantics
		because    string
	}{
		{"nothing", "", semantics.TargetRef, ""},
		{"plain policies", "{type: MeshTimeout, mesh: m, name: a, labels: {kuma.io/zone: z}, spec: {to: [{default: {idleTimeout: 1s}}]}}", semantics.TargetRef, ""},
		{"labels of a dataplane", "{type: Dataplane, mesh: m, name: d, labels: {kuma.io/origin: zone}, networking: {address: 10.0.0.1}}", semantics.TargetRef, ""},
		{"a role", "{type: MeshTimeout, mesh: m, name: b, labels: {kuma.io/policy-role: system}, spec: {to: [{default: {idleTimeout: 1s}}]}}", semantics.Kuma, "b"},
		{"the first by identity", "{type: MeshTimeout, mesh: m, name: b, labels: {kuma.io/origin: zone}, spec: {to: [{default: {idleTimeout: 1s}}]}}\n---\n" +
			"{type: MeshService, mesh: m, name: a, spec: {ports: [{port: 80}]}}", semantics.Kuma, "a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			set, err := loader.Decode(t.Context(), resource.Input{Name: "p.yaml", Data: []byte(c.text)})
			if err != nil {
				t.Fatal(err)
			}
			got, because := semantics.Detect(set)
			name := ""
			if because != nil {
				name = because.Name
			}
			if got != c.want || name != c.because {
				t.Errorf("it is %s because of %q, want %s because of %q", got, name, c.want, c.because)
			}
		})
	}
}
