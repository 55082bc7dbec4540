package permission_test

import (
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// Connections to ports that no inbound declares pass only if nothing could deny them: the
// dataplane has no identity, and no permission selects it or is applied.
func TestPassesUndeclared(t *testing.T) {
	configOf := func(target string) *results.Config {
		loader := resource.Loader{Kinds: kinds.All()}
		set, err := loader.Decode(t.Context(), resource.Input{Name: "mesh.yaml", Data: []byte(`{type: Dataplane, mesh: default, name: web, networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: web}}]}}
---
{type: MeshTrafficPermission, mesh: default, name: p, spec: {targetRef: {kind: MeshService, name: ` + target + `}, from: [{targetRef: {kind: Mesh}, default: {action: Allow}}]}}`)})
		if err != nil {
			t.Fatal(err)
		}
		view, err := core.Options{Semantics: core.TargetRef}.NewView(t.Context(), loader.Kinds, set)
		if err != nil {
			t.Fatal(err)
		}
		config, err := view.Config(view.Dataplanes("default")[0], permission.KindName, core.Enforced)
		if err != nil {
			t.Fatal(err)
		}
		return config
	}
	selected, other := configOf("web"), configOf("api")
	for _, test := range []struct {
		name                 string
		config               *results.Config
		hasIdentity, applied bool
		want                 bool
	}{
		{"no permission", nil, false, true, true},
		{"permissions of others", other, false, true, true},
		{"a permission", selected, false, true, false},
		{"a permission that is not applied", selected, false, false, true},
		{"an identity", nil, true, false, false},
	} {
		if got := permission.PassesUndeclared(test.config, test.hasIdentity, test.applied); got != test.want {
			t.Errorf("%s: got %t", test.name, got)
		}
	}
}
