package diff_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/diff"
	"github.com/meshmatch/meshmatch/core/internal/coretest"
)

const workloads = `
{type: Dataplane, name: web, labels: {app: web}, networking: {address: 10.0.0.1, inbound: [{port: 80, name: http, protocol: http, tags: {kuma.io/service: web}}], outbound: [{port: 1, tags: {kuma.io/service: a}}, {port: 2, tags: {kuma.io/service: b}}]}}
---
{type: Dataplane, name: api, labels: {app: api}, networking: {address: 10.0.0.2, inbound: [{port: 80, name: http, protocol: http, tags: {kuma.io/service: api}}], outbound: [{port: 1, tags: {kuma.io/service: a}}]}}
---
{type: MeshIdentity, name: ids, spec: {selector: {dataplane: {matchLabels: {}}}, spiffeID: {trustDomain: td, path: '/{{ label "app" }}'}, provider: {type: Bundled, bundled: {autogenerate: {enabled: true}}}}}
`

// What changes between two sets of policies: the fields of each group of dataplanes, and the inbounds
// that open and close (SPEC 10, 13.1).
func TestNew(t *testing.T) {
	const (
		base  = "MeshTimeout t {to: [{default: {idleTimeout: 1s}}]}"
		allow = "MeshTrafficPermission p {rules: [{default: {allow: [{spiffeId: {type: Exact, value: spiffe://td/web}}]}}]}"
	)
	for _, c := range []struct{ name, before, after, want string }{
		{"nothing", base, base, ""},
		{"a field of all outbounds", base, "MeshTimeout t {to: [{default: {idleTimeout: 2s}}]}", "api 1; web 2"},
		{"a field of one outbound", base, base + "; MeshTimeout u {to: [{targetRef: {kind: MeshService, name: b}, default: {idleTimeout: 2s}}]}", "web 1"},
		{"an item that is overridden", base + "; MeshTimeout u {to: [{default: {idleTimeout: 2s}}]}",
			"MeshTimeout t {to: [{default: {idleTimeout: 3s}}]}; MeshTimeout u {to: [{default: {idleTimeout: 2s}}]}", ""},
		{"the same value by another policy", base, "MeshTimeout v {to: [{default: {idleTimeout: 1s}}]}", ""},
		{"a policy that informs", base, base + "; MeshTimeout u [kuma.io/effect: shadow] {to: [{default: {idleTimeout: 2s}}]}", ""},
		{"an inbound opens", "", allow, "api,web 1; opens api,web"},
		{"an inbound closes", allow, "", "api,web 1; closes api,web"},
		{"another client", allow, strings.Replace(allow, "td/web", "td/api", 1), "api,web 2; opens api,web; closes api,web"},
		{"an order that changes no decision", "MeshTrafficPermission p {rules: [{default: {allow: [{method: GET}, {method: POST}]}}]}",
			"MeshTrafficPermission p {rules: [{default: {allow: [{method: POST}, {method: GET}]}}]}", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := diff.New(coretest.View(t, withPolicies(c.before)), coretest.View(t, withPolicies(c.after)), "default", inspect.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := summary(d); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// A policy is "KIND NAME [LABELS] SPEC".
func withPolicies(policies string) string {
	text := workloads
	for policy := range strings.SplitSeq(policies, "; ") {
		if policy == "" {
			continue
		}
		head, spec, _ := strings.Cut(policy, " {")
		parts := strings.SplitN(head, " ", 3)
		labels := ""
		if len(parts) == 3 {
			labels = strings.Trim(parts[2], "[]")
		}
		text += "---\n{type: " + parts[0] + ", name: " + parts[1] + ", labels: {" + labels + "}, spec: {" + spec + "}\n"
	}
	return text
}

// summary has the dataplanes of each group with the number of their changes, and the
// dataplanes of the inbounds that open and close.
func summary(d *diff.Diff) string {
	var parts []string
	for _, g := range d.Groups {
		parts = append(parts, fmt.Sprintf("%s %d", strings.Join(g.Names, ","), len(g.Changes)))
	}
	for _, side := range []struct {
		verb     string
		inbounds []diff.InboundOf
	}{{"opens", d.Opens}, {"closes", d.Closes}} {
		var names []string
		for _, in := range side.inbounds {
			names = append(names, in.Name)
		}
		if len(names) > 0 {
			parts = append(parts, side.verb+" "+strings.Join(names, ","))
		}
	}
	return strings.Join(parts, "; ")
}
