package serve_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// A dataplane whose permissions a patch weakens keeps its last good configuration, while
// others get theirs (SPEC 11.5).
func TestWeakenedPermissions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, map[string]string{"mesh.yaml": mesh, "timeout.yaml": timeout("1s")})
		web, api := r.client(webNode, nil), r.client(apiNode, nil)
		for _, c := range []*xdstest.Client{web, api} {
			for _, listed := range []wire.Type{wire.ClusterType, wire.ListenerType} {
				if err := c.Wildcard(listed); err != nil {
					t.Fatal(err)
				}
			}
		}
		version := func(c *xdstest.Client, t wire.Type, prefix string) string {
			for name, r := range c.Named(t) {
				if strings.HasPrefix(name, prefix) {
					return r.Version
				}
			}
			return ""
		}
		r.eventually("resources", func() bool {
			return version(web, wire.ClusterType, "default/api") != "" && version(api, wire.ListenerType, "inbound/") != ""
		})
		inbound, cluster := version(api, wire.ListenerType, "inbound/"), version(web, wire.ClusterType, "default/api")

		r.write("patch.yaml", weakening)
		r.write("timeout.yaml", timeout("2s"))
		r.eventually("other cluster", func() bool { return version(web, wire.ClusterType, "default/api") != cluster })
		r.eventually("warning", func() bool {
			return strings.Contains(r.log.String(), "it weakens the permissions") && strings.Contains(r.log.String(), "keeps the last configuration")
		})
		if got := version(api, wire.ListenerType, "inbound/"); got != inbound {
			t.Errorf("the inbound is %q, and was %q: its permission filter is gone", got, inbound)
		}
		late := r.client(apiNode, nil)
		if err := late.Wildcard(wire.ListenerType); err != nil {
			t.Fatal(err)
		}
		r.eventually("the last good state for another client", func() bool { return version(late, wire.ListenerType, "inbound/") == inbound })
		r.expect("/meshes/default/dataplanes/api/_access?inbound=8081", http.StatusOK, "it weakens the permissions")

		r.write("patch.yaml", strings.Replace(weakening, "name: patch", "name: patch\nlabels: {meshmatch.io/weakens-permissions: \"true\"}", 1))
		r.eventually("the patch with the label", func() bool { return version(api, wire.ListenerType, "inbound/") != inbound })
	})
}

const weakening = `
type: MeshProxyPatch
mesh: default
name: patch
spec:
  targetRef: {kind: MeshService, name: api}
  default:
    appendModifications:
    - httpFilter: {operation: Remove, match: {name: envoy.filters.http.rbac}}
    - networkFilter: {operation: Remove, match: {origin: inbound, name: envoy.filters.network.rbac}}
`
