package snapshot_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// An edit of permissions changes one resource of a dataplane: the extension of its inbound.
// It is much smaller than the listener, which would be sent if it had the filter. Dataplanes
// with equal permissions share its bytes (SPEC 11.8). bench/README.md has these figures.
func TestBytesOfAnEditOfPermissions(t *testing.T) {
	for _, test := range []struct{ clients, extension, listener int }{
		{clients: 1, extension: 407, listener: 2323},
		{clients: 10, extension: 429, listener: 2323},
		{clients: 100, extension: 702, listener: 2323},
	} {
		t.Run(fmt.Sprintf("clients=%d", test.clients), func(t *testing.T) {
			var allow []string
			for i := range test.clients {
				allow = append(allow, fmt.Sprintf("{spiffeId: {type: Exact, value: spiffe://default.mesh.local/client-%d}}", i))
			}
			edits, extensions := editOfPermissions(t, strings.Join(allow, ", "))
			for key, r := range edits[1] {
				if r.Version != edits[0][key].Version && r.Type != wire.ExtensionType {
					t.Errorf("the edit changes %s", key)
				}
			}
			extension := edits[1]["web-0 extensions permission/inbound/10.0.0.1/80"]
			listener := edits[1]["web-0 listeners inbound/10.0.0.1/80"]
			if len(extension.Body) != test.extension || len(listener.Body) != test.listener {
				t.Errorf("the extension has %d bytes and the listener %d, want %d and %d", len(extension.Body), len(listener.Body), test.extension, test.listener)
			}
			for _, body := range extensions {
				if &body[0] != &extensions[0][0] {
					t.Error("dataplanes with equal permissions have bytes of their own")
				}
			}
		})
	}
}

// editOfPermissions returns the resources of three dataplanes before and after one more client
// is allowed, and the extensions after it.
func editOfPermissions(t *testing.T, allow string) (edits [2]map[string]*wire.Resource, extensions [][]byte) {
	t.Helper()
	mesh := `{type: MeshIdentity, name: spire, spec: {selector: {dataplane: {matchLabels: {}}}, provider: {type: Spire}}}` + "\n"
	for i := range 3 {
		mesh += fmt.Sprintf("---\n{type: Dataplane, name: web-%d, networking: {address: 10.0.0.%d, inbound: [{port: 80, protocol: http, tags: {kuma.io/service: web}}]}}\n", i, i+1)
	}
	before := "{spiffeId: {type: Exact, value: spiffe://default.mesh.local/other}}"
	for i, allow := range []string{before, allow} {
		state := stateOf(t, mesh+"---\n{type: MeshTrafficPermission, name: all, spec: {rules: [{default: {allow: ["+allow+"]}}]}}\n")
		edits[i], extensions = map[string]*wire.Resource{}, nil
		for n := range 3 {
			name := fmt.Sprintf("web-%d", n)
			s := state.Snapshot(state.View().Dataplane(resource.ID{Kind: resource.DataplaneKind, Mesh: "default", Name: name}), xds.Envoy)
			for of := range wire.Type(wire.NumTypes) {
				for _, r := range s.Resources(of) {
					edits[i][fmt.Sprint(name, " ", of, " ", r.Name)] = r
				}
			}
			extensions = append(extensions, s.Resources(wire.ExtensionType)[0].Body)
		}
	}
	return edits, extensions
}
