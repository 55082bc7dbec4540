package why_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/why"
	"github.com/meshmatch/meshmatch/core/internal/coretest"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

const workload = `
{type: Dataplane, name: web, labels: {app: web}, networking: {address: 10.0.0.1, inbound: [{port: 80, name: http, protocol: http, tags: {kuma.io/service: web, version: v1}}], outbound: [{port: 1, tags: {kuma.io/service: a}}, {port: 2, tags: {kuma.io/service: b}}]}}
---
{type: Dataplane, name: api, labels: {app: api}, networking: {address: 10.0.0.2, inbound: [{port: 80, tags: {kuma.io/service: api}}]}}
`

// The effect of the policy p on the dataplane web (SPEC 13.4). Fields, overridden and conditions are
// in one text, sorted.
func TestPolicy(t *testing.T) {
	for _, c := range []struct {
		name, policies string
		query          why.Query
		effect         why.Effect
		want           string
	}{
		{"alone", "p {to: [{default: {idleTimeout: 1s}}]}", why.Query{}, why.Applies, "/idleTimeout"},
		{"one of two fields is overridden", "p {to: [{default: {idleTimeout: 1s, connectionTimeout: 1s}}]}; q {to: [{default: {idleTimeout: 2s}}]}",
			why.Query{}, why.Applies, "/connectionTimeout; /idleTimeout by q"},
		{"all is overridden", "p {to: [{default: {idleTimeout: 1s}}]}; q {to: [{default: {idleTimeout: 2s}}]}", why.Query{}, why.Overridden, "/idleTimeout by q"},
		{"overridden at one outbound only", "p {to: [{default: {idleTimeout: 1s}}]}; q {to: [{targetRef: {kind: MeshService, name: a}, default: {idleTimeout: 2s}}]}",
			why.Query{}, why.Applies, "/idleTimeout; /idleTimeout by q"},
		{"asked about that outbound", "p {to: [{default: {idleTimeout: 1s}}]}; q {to: [{targetRef: {kind: MeshService, name: a}, default: {idleTimeout: 2s}}]}",
			why.Query{Outbound: "a"}, why.Overridden, "/idleTimeout by q"},
		{"an item that no outbound has", "p {to: [{targetRef: {kind: MeshService, name: other}, default: {idleTimeout: 1s}}]}", why.Query{}, why.WithoutAny, "spec.to[0].targetRef.name"},
		{"another label", "p {targetRef: {kind: Dataplane, labels: {app: api}}, to: [{default: {idleTimeout: 1s}}]}", why.Query{}, why.NotSelected, "spec.targetRef.labels.app; nearest api"},
		{"another section", "p {targetRef: {kind: Dataplane, labels: {app: web}, sectionName: tcp}, rules: [{default: {idleTimeout: 1s}}]}", why.Query{}, why.NotSelected, "spec.targetRef.sectionName"},
		{"an inbound", "p {rules: [{default: {idleTimeout: 1s}}]}", why.Query{Inbound: "http"}, why.Applies, "/idleTimeout"},
		{"it informs", "p [kuma.io/effect: shadow] {to: [{default: {idleTimeout: 1s}}]}", why.Query{}, why.Informs, "/idleTimeout"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := workload
			for policy := range strings.SplitSeq(c.policies, "; ") {
				head, spec, _ := strings.Cut(policy, " {")
				name, labels, _ := strings.Cut(head, " ")
				text += "---\n{type: MeshTimeout, name: " + name + ", labels: {" + strings.Trim(labels, "[]") + "}, spec: {" + spec + "}\n"
			}
			view := coretest.View(t, text)
			c.query.Kind = view.Kinds().Lookup("MeshTimeout")
			answer, err := why.NewPolicy(t.Context(), view, view.Dataplane(resource.ID{Kind: "Dataplane", Mesh: "default", Name: "web"}),
				view.Policy(resource.ID{Kind: "MeshTimeout", Mesh: "default", Name: "p"}), &c.query)
			if err != nil {
				t.Fatal(err)
			}
			if got := summary(answer); answer.Answer != c.effect || got != c.want {
				t.Errorf("got %s: %s, want %s: %s", answer.Answer, got, c.effect, c.want)
			}
		})
	}
}

func summary(a *why.Policy) string {
	parts := slices.Sorted(maps.Keys(a.Fields))
	for _, field := range slices.Sorted(maps.Keys(a.Overridden)) {
		parts = append(parts, field+" by "+policyOf(a.Overridden[field]))
	}
	if a.Condition != nil {
		parts = append(parts, a.Condition.Field)
	}
	if a.Nearest != nil {
		parts = append(parts, "nearest "+strings.Split(a.Nearest.Dataplane, "_")[5])
	}
	return strings.Join(parts, "; ")
}

// policyOf returns the name in the KRI of a decider.
func policyOf(d inspect.Decider) string { return strings.Split(d.KRI, "_")[5] }

// All policies of a kind have one effect each, in the order of their identities.
func TestPolicies(t *testing.T) {
	view := coretest.View(t, workload+`---
{type: MeshTimeout, name: a, spec: {to: [{default: {idleTimeout: 1s}}]}}
---
{type: MeshTimeout, name: b, spec: {to: [{default: {idleTimeout: 1s}}]}}
---
{type: MeshTimeout, name: c, spec: {targetRef: {kind: Dataplane, labels: {app: api}}, to: [{default: {idleTimeout: 1s}}]}}
`)
	q := &why.Query{Kind: view.Policies("default")[0].Type}
	answer, err := why.NewPolicies(t.Context(), view, view.Dataplane(resource.ID{Kind: "Dataplane", Mesh: "default", Name: "web"}), q)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range answer.Policies {
		got = append(got, p.Name+" "+string(p.Answer))
	}
	if want := []string{"a overridden", "b applies", "c not selected"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Parts that do not go together are wrong usage.
func TestQuery(t *testing.T) {
	kind := kinds.All().Lookup("MeshTimeout")
	for _, q := range []why.Query{{Outbound: "a", Inbound: "http"}, {Outbound: "a", Listener: "in"}, {Inbound: "http", Listener: "in"}} {
		q.Kind = kind
		if err := q.Check(); err == nil {
			t.Errorf("%+v is accepted", q)
		}
	}
	if err := (&why.Query{Kind: kind, Outbound: "a"}).Check(); err != nil {
		t.Error(err)
	}
}
