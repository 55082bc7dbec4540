package inspect_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/diff"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

func viewOf(t *testing.T, files ...string) *core.View {
	t.Helper()
	loader := resource.Loader{Kinds: kinds.All()}
	var inputs []resource.Input
	for i, text := range files {
		inputs = append(inputs, resource.Input{Name: fmt.Sprint("file", i), Data: []byte(text)})
	}
	set, err := loader.Decode(t.Context(), inputs...)
	if err != nil {
		t.Fatal(err)
	}
	view, err := core.Options{Semantics: core.TargetRef}.NewView(t.Context(), loader.Kinds, set)
	if err != nil {
		t.Fatal(err)
	}
	return view
}

func dataplane(name string) string {
	return `{type: Dataplane, name: ` + name + `, networking: {address: 10.0.0.1,
		inbound: [{port: 80, protocol: http, tags: {kuma.io/service: web}}], outbound: [{port: 1, tags: {kuma.io/service: backend}}]}}`
}

func timeouts(rules string) string {
	return `{type: MeshTimeout, name: t, spec: {rules: [` + rules + `]}}`
}

func permissions(name, rules string) string {
	return `{type: MeshTrafficPermission, name: ` + name + `, spec: {rules: [` + rules + `]}}`
}

func TestDiff(t *testing.T) {
	const (
		exact   = `{matches: [{path: {type: Exact, value: /a}}], default: {idleTimeout: 1s}}`
		headerA = `{matches: [{headers: [{name: a, type: Present}]}], default: {idleTimeout: 2s}}`
		headerB = `{matches: [{headers: [{name: b, type: Present}]}], default: {idleTimeout: 3s}}`
		others  = `{default: {idleTimeout: 4s}}`
	)
	web := dataplane("web")
	for name, test := range map[string]struct {
		before, after []string
		want          []string // dataplanes: kind, place field: old -> new
	}{
		"nothing": {
			before: []string{web, timeouts(headerA)}, after: []string{timeouts(headerA), web},
		},
		"one more rule is one change": {
			before: []string{web, timeouts(headerA + "," + others)}, after: []string{web, timeouts(exact + "," + headerA + "," + others)},
			want: []string{
				`[kri_dp_default___web_]: MeshTimeout, inbound 80, when path exact /a : null -> {}`,
				`[kri_dp_default___web_]: MeshTimeout, inbound 80, when path exact /a /idleTimeout: null -> "1s"`,
			},
		},
		"the order of rules that both have": {
			before: []string{web, timeouts(headerA + "," + headerB)}, after: []string{web, timeouts(exact + "," + headerB + "," + headerA)},
			want: []string{
				`[kri_dp_default___web_]: MeshTimeout, inbound 80 order: ` +
					`[{"headers":[{"type":"Present","name":"a"}]},{"headers":[{"type":"Present","name":"b"}]}] -> ` +
					`[{"headers":[{"type":"Present","name":"b"}]},{"headers":[{"type":"Present","name":"a"}]}]`,
				`[kri_dp_default___web_]: MeshTimeout, inbound 80, when path exact /a : null -> {}`,
				`[kri_dp_default___web_]: MeshTimeout, inbound 80, when path exact /a /idleTimeout: null -> "1s"`,
			},
		},
		"a permission entry that moves decides the same": {
			before: []string{web, permissions("a", `{default: {allow: [{method: GET}, {method: PUT}]}}`)},
			after:  []string{web, permissions("b", `{default: {allow: [{method: PUT}]}}, {default: {allow: [{method: GET}]}}`)},
		},
		"a permission entry that changes its list": {
			before: []string{web, permissions("a", `{default: {allow: [{method: GET}, {method: PUT}]}}`)},
			after:  []string{web, permissions("a", `{default: {allow: [{method: PUT}], deny: [{method: GET}]}}`)},
			want: []string{
				`[kri_dp_default___web_]: MeshTrafficPermission, inbound 80 /allow: {"method":"GET"} -> null`,
				`[kri_dp_default___web_]: MeshTrafficPermission, inbound 80 /deny: null -> {"method":"GET"}`,
			},
		},
		"dataplanes of one side are in no group": {
			before: []string{web, timeouts(others)}, after: []string{dataplane("b"), dataplane("a"), timeouts(others)},
			want: []string{"added [kri_dp_default___a_ kri_dp_default___b_]", "removed [kri_dp_default___web_]"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			diff, err := diff.New(viewOf(t, test.before...), viewOf(t, test.after...), "default", inspect.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, group := range diff.Groups {
				for _, c := range group.Changes {
					got = append(got, fmt.Sprintf("%v: %s, %s %s: %s -> %s", group.Dataplanes, c.Kind, c.Place.String(), c.Field, orNull(c.Before), orNull(c.After)))
				}
			}
			if len(diff.Added)+len(diff.Removed) > 0 {
				got = append(got, fmt.Sprint("added ", diff.Added), fmt.Sprint("removed ", diff.Removed))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func orNull(value []byte) string {
	if value == nil {
		return "null"
	}
	return string(value)
}
