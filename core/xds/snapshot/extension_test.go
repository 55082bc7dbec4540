package snapshot_test

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// The permissions of an HTTP inbound are served by name only: no wildcard selects them. They
// are not served if a patch, which is allowed to weaken permissions, removes the filter that
// refers to them (SPEC 11.8).
func TestExtensionsAreServedByName(t *testing.T) {
	const mesh = "{type: Dataplane, name: web, networking: {address: 10.0.0.1, inbound: [{port: 80, protocol: http, tags: {kuma.io/service: web}}]}}\n"
	const patch = "---\n{type: MeshProxyPatch, name: open, labels: {meshmatch.io/weakens-permissions: 'true'}, spec: {default: {appendModifications: [{httpFilter: {operation: Remove, match: {name: envoy.filters.http.rbac}}}]}}}\n"
	for name, test := range map[string]struct {
		mesh string
		want []string
	}{
		"the filter":  {mesh, []string{"permission/inbound/10.0.0.1/80"}},
		"its removal": {mesh + patch, nil},
	} {
		t.Run(name, func(t *testing.T) {
			state := stateOf(t, test.mesh)
			served := state.Snapshot(state.View().Dataplane(resource.ID{Kind: resource.DataplaneKind, Mesh: "default", Name: "web"}), xds.Envoy).Served(nil)
			extensions := served[wire.ExtensionType]
			if len(extensions.Listed) > 0 {
				t.Errorf("a wildcard selects %s", extensions.Listed[0].Name)
			}
			if len(extensions.Named) != len(test.want) || len(test.want) == 1 && extensions.Named[0].Name != test.want[0] {
				t.Errorf("%d extensions by name, want %q", len(extensions.Named), test.want)
			}
			if len(served[wire.ListenerType].Listed) == 0 {
				t.Error("there is no listener")
			}
		})
	}
}
