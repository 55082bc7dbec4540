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
