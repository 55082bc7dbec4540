package permission_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/resourcetest"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/permission"
)

// There is one warning about all ignored `from` items of an inbound. It says why they are
// ignored, and how many other policies have some.
func TestIgnoredFrom(t *testing.T) {
	const dataplane = `{type: Dataplane, mesh: default, name: web, networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: web}}]}}`
	const from = "\n---\n{type: MeshTrafficPermission, mesh: default, name: a, spec: {from: [{targetRef: {kind: Mesh}, default: {action: Allow}}]}}"
	const more = "\n---\n{type: MeshTrafficPermission, mesh: default, name: b, spec: {from: [{targetRef: {kind: Mesh}, default: {action: Allow}}]}}"
	const rules = "\n---\n{type: MeshTrafficPermission, mesh: default, name: c, spec: {rules: [{default: {allow: [{spiffeId: {type: Prefix, value: \"spiffe://td\"}}]}}]}}"
	type warning struct {
		Code diag.Code
		What string
	}
	for _, test := range []struct {
		name      string
		semantics semantics.Semantics
		policies  string
		want      []warning
	}{
		{"nothing is ignored", semantics.TargetRef, from, nil},
		{"one, by rules", semantics.TargetRef, from + rules, []warning{{diag.FromIgnored, "is ignored, because other policies of the inbound have rules"}}},
		{"two, by rules", semantics.TargetRef, from + more + rules, []warning{{diag.FromIgnored, "is ignored, because other policies of the inbound have rules; 1 more like this"}}},
		{"one that the semantics does not read", semantics.Kuma3, from, []warning{{diag.FromNotRead, "is ignored, because only rules are applied"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			set := resourcetest.Decode(t, dataplane+test.policies)
			engine := core.NewEngine(kinds.All(), core.Options{Semantics: test.semantics})
			if _, err := engine.Apply(t.Context(), core.Batch{Upsert: set}); err != nil {
				t.Fatal(err)
			}
			web := engine.View().Dataplanes("default")[0]
			config, err := engine.View().Config(web, permission.KindName, core.Enforced)
			if err != nil {
				t.Fatal(err)
			}
			var got []warning
			for _, w := range permission.ForInbound(config, web, 0).Warnings {
				got = append(got, warning{w.Code, w.What})
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// On a TCP inbound an entry that denies matches more than it says, and any other one nothing.
func TestUnseenCode(t *testing.T) {
	for list, want := range map[permission.List]diag.Code{
		permission.Deny: diag.BroaderOnTCP, permission.Allow: diag.UnseenEntry, permission.AllowWithShadowDeny: diag.UnseenEntry,
	} {
		if got := permission.UnseenCode(list); got != want {
			t.Errorf("%s: got %v, want %v", list, got, want)
		}
	}
}
