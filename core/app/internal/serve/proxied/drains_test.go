package proxied

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/diff"
	"github.com/meshmatch/meshmatch/core/internal/coretest"
	"github.com/meshmatch/meshmatch/core/xds/translators"
)

// The dataplanes that a comparison leaves out have no drain (SPEC 11.8), whatever the edit of
// permissions is: one that denies a TCP inbound has its name in the listener.
func TestNoDrainIsLeftOut(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 8))
	pick := func(of ...string) string { return of[random.IntN(len(of))] }
	permission := func(i int) string {
		selects := pick("{kind: Mesh}", "{kind: Dataplane, labels: {app: a}}", "{kind: Dataplane, labels: {app: b}}", "{kind: Dataplane, name: e}", "{kind: Dataplane, name: d1, sectionName: tcp}")
		if i%2 == 0 {
			return fmt.Sprintf("{type: MeshTrafficPermission, mesh: m, name: p%d, spec: {targetRef: %s, rules: [{default: {%s: [{spiffeID: {type: Prefix, value: 'spiffe://m/%s'}}]}}]}}",
				i, selects, pick("allow", "deny"), pick("a", "b"))
		}
		return fmt.Sprintf("{type: MeshTrafficPermission, mesh: m, name: p%d, spec: {targetRef: %s, from: [{targetRef: {kind: Mesh}, default: {action: %s}}]}}", i, selects, pick("Allow", "Deny"))
	}
	mesh := `
{type: Mesh, name: m}
---
{type: MeshTLS, mesh: m, name: tls, spec: {rules: [{default: {mode: Strict}}]}}
---
{type: MeshIdentity, mesh: m, name: id, spec: {selector: {dataplane: {matchLabels: {}}}, spiffeID: {trustDomain: m, path: '/{{ label "app" }}'}, provider: {type: Bundled, bundled: {meshTrustCreation: Enabled, insecureAllowSelfSigned: true, autogenerate: {enabled: true}}}}}
---
{type: Dataplane, mesh: m, name: e, labels: {app: e, kuma.io/zone: z}, networking: {address: 10.0.1.1, listeners: [{address: 10.0.1.1, type: ZoneEgress, port: 10002}]}}
`
	for i, app := range []string{"a", "b", "b", "c"} {
		mesh += fmt.Sprintf("---\n{type: Dataplane, mesh: m, name: d%d, labels: {app: %s}, networking: {address: 10.0.0.%d, inbound: [{port: 80, name: http, tags: {kuma.io/service: %[2]s, kuma.io/protocol: http}}, {port: 81, name: tcp, tags: {kuma.io/service: %[2]s-tcp, kuma.io/protocol: tcp}}]}}\n", i, app, i+1)
	}
	all := []string{"", "", "", ""}
	drained, none := 0, 0
	for range 60 {
		before := mesh + strings.Join(all, "")
		next := append([]string{}, all...)
		i := random.IntN(len(next))
		if next[i] = ""; random.IntN(4) > 0 {
			next[i] = "---\n" + permission(random.IntN(8)*10+i) + "\n"
		}
		after := mesh + strings.Join(next, "")
		all = next
		c := &Comparison{Before: Side{View: coretest.View(t, before)}, After: Side{View: coretest.View(t, after)}, Mesh: "m"}
		answer, err := c.withoutDrains(inspect.Options{})
		if err != nil {
			t.Fatal(err)
		}
		found, errFound := c.drains(context.Background(), answer, translators.All())
		want, errWant := c.drains(context.Background(), changedAll(c.After.View), translators.All())
		if errFound != nil || errWant != nil {
			t.Fatal(errFound, errWant)
		}
		if !reflect.DeepEqual(found, want) {
			t.Fatalf("%d drains, of all dataplanes %d:\n%v\n%v\n%s\n=>\n%s", len(found), len(want), found, want, before, after)
		}
		drained += len(want)
		if len(want) == 0 {
			none++
		}
	}
	if drained < 20 || none < 10 {
		t.Errorf("%d drains, %d edits have none", drained, none)
	}
}

// changedAll returns a diff by which each dataplane of the mesh changes.
func changedAll(v *core.View) *diff.Diff {
	var group diff.Group
	for _, d := range v.Dataplanes("m") {
		group.Dataplanes = append(group.Dataplanes, inspect.DataplaneKRI(v, d))
	}
	return &diff.Diff{Groups: []diff.Group{group}}
}
