package check_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/check"
	"github.com/meshmatch/meshmatch/core/internal/resourcetest"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

const workload = `
{type: Dataplane, name: web, labels: {app: web}, networking: {address: 10.0.0.1, inbound: [{port: 80, name: http, protocol: http, tags: {kuma.io/service: web}}], outbound: [{port: 1, tags: {kuma.io/service: a}}]}}
`

// Each input has the warnings with these codes, and no others (SPEC 10, FINDINGS.md).
func TestWarnings(t *testing.T) {
	const allow = "MeshTrafficPermission all {rules: [{default: {allow: [{method: GET}, {method: POST}]}}]}"
	for _, c := range []struct{ name, policies, want string }{
		{"nothing", allow, ""},
		{"no permission", "", "MM1001"},
		{"permissions that allow nothing", "MeshTrafficPermission p {rules: [{default: {deny: [{method: GET}]}}]}", "MM1001 MM3002"},
		{"a policy that selects no dataplane", allow + "; MeshTimeout t {targetRef: {kind: Dataplane, labels: {app: other}}, to: [{default: {idleTimeout: 1s}}]}", "MM2001"},
		{"an item that selects no outbound", allow + "; MeshTimeout t {to: [{targetRef: {kind: MeshService, name: other}, default: {idleTimeout: 1s}}]}", "MM2004"},
		{"an item that another one overrides", allow + "; MeshTimeout t {to: [{default: {idleTimeout: 1s}}]}; MeshTimeout u {to: [{default: {idleTimeout: 2s}}]}", "MM2004"},
		{"a permission entry twice", "MeshTrafficPermission all {rules: [{default: {allow: [{method: GET}, {method: GET}]}}]}", "MM3001 MM3002"},
		{"a section that no inbound has", allow + "; MeshTimeout t {targetRef: {kind: Dataplane, labels: {app: web}, sectionName: tcp}, rules: [{default: {idleTimeout: 1s}}]}", "MM2001"},
		{"a denial by what a client chooses", "MeshTrafficPermission all {rules: [{default: {allow: [{method: GET}], deny: [{headers: [{name: x, type: Absent}]}]}}]}", "MM1005"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := workload
			for policy := range strings.SplitSeq(c.policies, "; ") {
				if kind, rest, ok := strings.Cut(policy, " "); ok {
					name, spec, _ := strings.Cut(rest, " ")
					text += fmt.Sprintf("---\n{type: %s, name: %s, spec: %s}\n", kind, name, spec)
				}
			}
			set := resourcetest.Decode(t, text)
			view, err := core.Options{Semantics: core.TargetRef}.NewView(t.Context(), kinds.All(), set)
			if err != nil {
				t.Fatal(err)
			}
			answer := check.New(view, set)
			var codes, lines []string
			for _, w := range answer.Warnings {
				codes, lines = append(codes, w.Code.String()), append(lines, w.Line())
			}
			slices.Sort(codes)
			if got := strings.Join(slices.Compact(codes), " "); got != c.want {
				t.Errorf("got %q, want %q\n%s", got, c.want, strings.Join(lines, "\n"))
			}
		})
	}
}

// An item that acts on a listener of a builtin gateway has an effect, even if none of the
// outbounds gets it (SPEC 17.3): a policy with an item for a route has none for tags.
func TestItemOfGatewayListener(t *testing.T) {
	set := resourcetest.Decode(t, `
{type: MeshGateway, name: edge, selectors: [{match: {kuma.io/service: edge}}], conf: {listeners: [{port: 82, protocol: HTTP}]}}
---
{type: Dataplane, name: edge, networking: {address: 10.0.0.1, gateway: {type: BUILTIN, tags: {kuma.io/service: edge}}, outbound: [{port: 1, tags: {kuma.io/service: a}}]}}
---
{type: MeshCircuitBreaker, name: c, spec: {to: [{targetRef: {kind: MeshHTTPRoute, name: r}, default: {outlierDetection: {disabled: true}}}, {default: {connectionLimits: {maxConnections: 1}}}]}}
`)
	view, err := core.Options{Semantics: core.Kuma}.NewView(t.Context(), kinds.All(), set)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range check.New(view, set).Warnings {
		if w.Path == "spec.to[1]" {
			t.Error(w.Line())
		}
	}
}

// The work on policies that set nothing is linear in their number: each of them is overridden by the last one,
// or is for a service of its own. With time that grows by the square it is minutes.
func TestManyPoliciesThatSetNothing(t *testing.T) {
	for name, item := range map[string]func(i int) string{
		"for one target": func(i int) string { return fmt.Sprintf("{default: {idleTimeout: %ds}}", i+1) },
		"for their own": func(i int) string {
			return fmt.Sprintf("{targetRef: {kind: MeshService, name: s%d}, default: {idleTimeout: 1s}}", i)
		},
		"of those that do": func(i int) string {
			return fmt.Sprintf("{targetRef: {kind: MeshService, name: o%d}, default: {idleTimeout: 1s}}", i%100)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var text strings.Builder
			for i := range 20 {
				fmt.Fprintf(&text, "---\n{type: Dataplane, name: d%d, networking: {address: 10.0.1.%d, inbound: [{port: 80, tags: {kuma.io/service: o%d}}], outbound: [", i, i, i)
				for o := range 20 {
					fmt.Fprintf(&text, "{port: %d, tags: {kuma.io/service: o%d}}, ", o+1, (i+o)%100)
				}
				text.WriteString("]}}\n")
			}
			const policies = 10_000
			for i := range policies {
				fmt.Fprintf(&text, "---\n{type: MeshTimeout, name: p%05d, spec: {to: [%s]}}\n", i, item(i))
			}
			all := kinds.All()
			set, err := (&resource.Loader{Kinds: all}).Decode(t.Context(), resource.Input{Name: "mesh.yaml", Data: []byte(text.String())})
			if err != nil {
				t.Fatal(err)
			}
			view, err := core.Options{Semantics: core.TargetRef}.NewView(t.Context(), all, set)
			if err != nil {
				t.Fatal(err)
			}
			if found := check.New(view, set).Findings(); len(found) < policies*9/10 {
				t.Errorf("%d findings", len(found))
			}
		})
	}
}
