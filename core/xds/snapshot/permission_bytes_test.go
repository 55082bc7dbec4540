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
// It is much smaller than the listener, which would be sent if it had the filter: here 709
// of 2,035 bytes, for one SPIFFE ID. Dataplanes with equal permissions share its bytes
// (SPEC 11.8).
func TestBytesOfAnEditOfPermissions(t *testing.T) {
	mesh := `{type: MeshIdentity, name: spire, spec: {selector: {dataplane: {matchLabels: {}}}, provider: {type: Spire}}}` + "\n"
	for i := range 3 {
		mesh += fmt.Sprintf("---\n{type: Dataplane, name: web-%d, networking: {address: 10.0.0.%d, inbound: [{port: 80, protocol: http, tags: {kuma.io/service: web}}]}}\n", i, i+1)
	}
	const permission = "---\n{type: MeshTrafficPermission, name: all, spec: {rules: [{default: {allow: [{spiffeId: {type: Exact, value: spiffe://default.mesh.local/CLIENT}}]}}]}}\n"
	var edits [2]map[string]*wire.Resource
	var extensions [][]byte
	for i, client := range []string{"a", "b"} {
		state := stateOf(t, mesh+strings.Replace(permission, "CLIENT", client, 1))
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
	for key, r := range edits[1] {
		if r.Version != edits[0][key].Version && r.Type != wire.ExtensionType {
			t.Errorf("the edit changes %s", key)
		}
	}
	extension := edits[1]["web-0 extensions permission/inbound/10.0.0.1/80"]
	listener := edits[1]["web-0 listeners inbound/10.0.0.1/80"]
	if 5*len(extension.Body) > 2*len(listener.Body) {
		t.Errorf("the extension has %d bytes, more than two fifths of the listener's %d", len(extension.Body), len(listener.Body))
	}
	for _, body := range extensions {
		if &body[0] != &extensions[0][0] {
			t.Error("dataplanes with equal permissions have bytes of their own")
		}
	}
}
