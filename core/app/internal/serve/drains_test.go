package serve_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// The server counts and logs the listeners that its clients replace, with the causes. An
// edit that changes no listener counts nothing, and neither does a dataplane without a
// client (SPEC 11.8).
func TestDrains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, map[string]string{"mesh.yaml": mesh, "timeout.yaml": timeout("1s")})
		web := r.client(webNode, nil) // api has no client
		for _, of := range []wire.Type{wire.ClusterType, wire.ListenerType} {
			if err := web.Wildcard(of); err != nil {
				t.Fatal(err)
			}
		}
		changes := func(of wire.Type, edit func()) {
			t.Helper()
			before := versions(web, of)
			edit()
			r.eventually("another version", func() bool { return versions(web, of) != before && before != "" })
			time.Sleep(2 * time.Second) // of the clock of the test: until the line is logged
		}
		r.eventually("resources", func() bool { return versions(web, wire.ClusterType) != "" && versions(web, wire.ListenerType) != "" })

		changes(wire.ClusterType, func() { r.write("timeout.yaml", timeout("2s")) })
		if strings.Contains(r.log.String(), " drain, ") {
			t.Errorf("a connection timeout drains a listener:\n%s", r.log.String())
		}
		const logs = `
type: MeshAccessLog
mesh: default
name: all
spec:
  to: [{targetRef: {kind: Mesh}, default: {backends: [{type: File, file: {path: /dev/stdout}}]}}]
`
		changes(wire.ListenerType, func() { r.write("log.yaml", logs) })
		changes(wire.ListenerType, func() { r.write("log.yaml", strings.Replace(logs, "stdout", "stderr", 1)) })
		const line = "1 listener of 1 dataplane drain, because of MeshAccessLog: their connections close"
		if n := strings.Count(r.log.String(), line); n != 2 {
			t.Errorf("the line is %d times in the log, want 2:\n%s", n, r.log.String())
		}
		r.expect("/metrics", http.StatusOK, `meshmatch_drains_total{kind="MeshAccessLog"} 2`)

		// The outbound has two causes and counts for both, the inbound has one. A kind that
		// drained nothing is 0 from the start.
		const patch = `---
type: MeshProxyPatch
mesh: default
name: all
spec: {default: {appendModifications: [{listener: {operation: Patch, match: {}, value: 'stat_prefix: mine'}}]}}
`
		changes(wire.ListenerType, func() { r.write("log.yaml", logs+patch) })
		for _, metric := range []string{`{kind="MeshAccessLog"} 3`, `{kind="MeshProxyPatch"} 2`, `{kind="MeshTimeout"} 0`} {
			r.expect("/metrics", http.StatusOK, "meshmatch_drains_total"+metric)
		}
	})
}

// versions returns the versions of all resources of a type, sorted by name.
func versions(c *xdstest.Client, of wire.Type) string {
	var all []string
	for name, r := range c.Named(of) {
		all = append(all, name+" "+r.Version)
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}
