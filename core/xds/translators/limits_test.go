package translators_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/coretest"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/translators"
)

// costly are modifications of one policy that would take much time or memory, or a policy that
// does not load.
var costly = map[string]func() string{
	"copies of copies": func() string {
		patches := []string{`{op: add, path: /metadata, value: {filterMetadata: {a: {x: [1]}}}}`}
		for range 60 {
			patches = append(patches, `{op: copy, from: /metadata/filterMetadata/a/x, path: /metadata/filterMetadata/a/x/-}`)
		}
		return "\n    - listener: {operation: Patch, jsonPatches: [" + strings.Join(patches, ", ") + "]}"
	},
	"copies in each of many modifications": func() string {
		text := "\n    - listener: {operation: Patch, jsonPatches: [{op: add, path: /metadata, value: {filterMetadata: {a: {x: [1]}}}}]}"
		return text + strings.Repeat("\n    - listener: {operation: Patch, jsonPatches: [{op: copy, from: /metadata/filterMetadata/a/x, path: /metadata/filterMetadata/a/x/-}]}", 60)
	},
	"a filter in front, 4,000 times": func() string {
		return strings.Repeat("\n    - httpFilter: {operation: AddFirst, value: '{name: s, typed_config: {\"@type\": type.googleapis.com/envoy.extensions.filters.http.grpc_stats.v3.FilterConfig}}'}", 4000)
	},
	"2,000 routes": func() string {
		var b strings.Builder
		for i := range 2000 {
			fmt.Fprintf(&b, "\n    - virtualHost: {operation: Patch, jsonPatches: [{op: add, path: /routes/0, value: {match: {path: /p%d}, directResponse: {status: 200}}}]}", i)
		}
		return b.String()
	},
	"2,000 virtual hosts": func() string {
		var b strings.Builder
		for i := range 2000 {
			fmt.Fprintf(&b, "\n    - virtualHost: {operation: Add, value: '{name: h%[1]d, domains: [h%[1]d], routes: []}'}", i)
		}
		return b.String()
	},
}

// Whatever the modifications of a policy are, a snapshot with them takes little memory,
// and is the same each time (SPEC 11.5).
func TestCostlyPatches(t *testing.T) {
	if testing.Short() {
		t.Skip("it makes large messages")
	}
	for name, modifications := range costly {
		t.Run(name, func(t *testing.T) {
			view := coretest.View(t, `
type: Dataplane
mesh: default
name: web
networking:
  address: 10.0.0.1
  inbound: [{port: 80, protocol: http, tags: {kuma.io/service: web}}]
---
type: MeshProxyPatch
mesh: default
name: p
spec:
  default:
    appendModifications:`+modifications()+"\n")
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			d := view.Dataplane(resource.ID{Kind: "Dataplane", Mesh: "default", Name: "web"})
			built := snapshot.NewBuilder(translators.All(), snapshot.Options{}).At(view).Snapshot(d, xds.Envoy)
			runtime.ReadMemStats(&after)
			// What is allocated stands for the work: it does not depend on the load of the machine.
			made := (after.TotalAlloc - before.TotalAlloc) >> 20
			if t.Logf("%d MiB", made); made > 1500 {
				t.Errorf("the snapshot allocated %d MiB", made)
			}
			limited := false
			for _, w := range built.Warnings() {
				limited = limited || strings.Contains(w.String(), "MiB") || strings.Contains(w.String(), "size")
			}
			if !limited {
				t.Errorf("no warning names the limit: %v", built.Warnings())
			}
		})
	}
}
