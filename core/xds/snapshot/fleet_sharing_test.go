package snapshot_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/resourcetest"
	"github.com/meshmatch/meshmatch/core/internal/xds/capability"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/translators"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// fleetMesh has outbounds that all dataplanes share. Older releases get other forms of its policies.
func fleetMesh(dataplanes int) string {
	var b strings.Builder
	b.WriteString(`
{type: MeshRateLimit, mesh: default, name: all, spec: {targetRef: {kind: Mesh}, from: [{targetRef: {kind: Mesh}, default: {local: {http: {requestRate: {num: 10, interval: 1s}}}}}]}}
---
{type: MeshAccessLog, mesh: default, name: all, spec: {targetRef: {kind: Mesh}, from: [{targetRef: {kind: Mesh}, default: {backends: [{type: File, file: {path: /dev/null}}]}}]}}
---
{type: MeshTrafficPermission, mesh: default, name: all, spec: {targetRef: {kind: Mesh}, rules: [{default: {allow: [{path: {type: Prefix, value: /}, headers: [{name: x-team, type: RegularExpression, value: "a.c"}]}]}}]}}
`)
	for i := range dataplanes {
		fmt.Fprintf(&b, `---
{type: Dataplane, mesh: default, name: web-%[1]d, networking: {address: 10.0.0.%[1]d,
  inbound: [{port: 80, tags: {kuma.io/service: web, kuma.io/protocol: http}}],
  outbound: [{port: 81, address: 127.0.0.1, tags: {kuma.io/service: web}}, {port: 82, address: 127.0.0.1, tags: {kuma.io/service: none}}]}}
`, i+1)
	}
	return b.String()
}

// A fleet with clients of three versions shares what does not differ between them, so that it
// holds at most three times the parts that do (SPEC 18.2).
func TestFleetShares(t *testing.T) {
	view, err := core.Options{Semantics: core.TargetRef}.NewView(t.Context(), kinds.All(), resourcetest.Decode(t, fleetMesh(30)))
	if err != nil {
		t.Fatal(err)
	}
	state := snapshot.NewBuilder(translators.All(), snapshot.Options{}).At(view)
	type content struct {
		of      wire.Type
		version string
	}
	versions := []string{"1.40.0", "1.38.3", "1.36.4"}
	var snapshots []*snapshot.Snapshot // a snapshot that nothing holds need not be shared
	bodies := map[content]map[*byte]bool{}
	users := map[content]map[string]bool{}
	sizes := map[content]int{}
	for _, version := range versions {
		v, err := capability.ParseVersion(version)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range view.Dataplanes("default") {
			s := state.SnapshotFor(d, xds.EnvoyOf(v))
			snapshots = append(snapshots, s)
			for i := range wire.NumTypes {
				of := wire.Type(i)
				for _, r := range s.Resources(of) {
					key := content{of, r.Version}
					if bodies[key] == nil {
						bodies[key], users[key], sizes[key] = map[*byte]bool{}, map[string]bool{}, r.Size()
					}
					bodies[key][&r.Body[0]], users[key][version] = true, true
				}
			}
		}
	}
	total, newest, shared := 0, 0, 0
	parts, differing := 0, 0 // what differs between versions, of all and of the newest
	for key, of := range bodies {
		total += len(of) * sizes[key]
		if len(users[key]) < len(versions) {
			parts += len(of)
			if users[key][versions[0]] {
				differing += len(of)
			}
		}
		if users[key][versions[0]] {
			newest += sizes[key]
		}
		if len(users[key]) == len(versions) {
			shared += sizes[key]
		}
	}
	differ := newest - shared
	t.Logf("%d snapshots: one version has %d bytes, and %d of them differ; three versions have %d", len(snapshots), newest, differ, total)
	if differ == 0 || shared == 0 {
		t.Fatal("nothing differs, or everything")
	}
	t.Logf("%d parts of the newest version differ, %d of all three", differing, parts)
	if limit := len(versions) * differing; parts > limit {
		t.Errorf("three versions have %d parts that differ, want at most %d", parts, limit)
	}
	// A form for an older release may be larger than the newest one by a tenth.
	if limit := shared + len(versions)*differ*11/10; total > limit {
		t.Errorf("three versions have %d bytes, want at most %d", total, limit)
	}
}
