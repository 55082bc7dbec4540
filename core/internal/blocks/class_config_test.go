package blocks_test

import (
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/matched"
	"github.com/meshmatch/meshmatch/core/internal/resourcetest"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// decodeTimeouts returns a dataplane with three outbounds, MeshTimeouts, some of them with
// rules, and a route.
func decodeTimeouts(t *testing.T, n int) (d *resource.Dataplane, timeouts, routes []results.Selected) {
	t.Helper()
	var text strings.Builder
	text.WriteString(`
type: Dataplane
name: web-1
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web}}, {port: 81, tags: {kuma.io/service: web}}]
  outbound: [{port: 1, tags: {kuma.io/service: a}}, {port: 2, tags: {kuma.io/service: b}}, {port: 3, tags: {kuma.io/service: c}}]
---
{type: MeshHTTPRoute, name: r, spec: {to: [{targetRef: {kind: MeshService, name: b}, rules: []}]}}
`)
	targets := []string{"kind: Mesh", "kind: MeshService, name: a", "kind: MeshService, name: b", "kind: MeshHTTPRoute, name: r"}
	fields := []string{"connectionTimeout: 1s", "idleTimeout: 1s", "http: {requestTimeout: 1s}"}
	for i := range n {
		fmt.Fprintf(&text, "---\n{type: MeshTimeout, name: p%02d, spec: {to: [{targetRef: {%s}, default: {%s}}, {default: {%s}}]", i, targets[i%4], fields[i%3], fields[i/2%3])
		if i%5 == 0 {
			text.WriteString(", rules: [{default: {idleTimeout: 2s}}]")
		}
		text.WriteString("}}\n")
	}
	set := resourcetest.Decode(t, text.String())
	for _, p := range set.Policies {
		s := results.Selected{Policy: p}
		s.Inbounds.Add(0)
		if p.IsRoute() {
			routes = append(routes, s)
		} else {
			timeouts = append(timeouts, s)
		}
	}
	return set.Dataplanes[0], timeouts, routes
}

// A class config without some policies has the same blocks as one that is evaluated
// from scratch. So has a class config that is reduced a second time.
func TestWithout(t *testing.T) {
	const policies = 40
	d, selected, routes := decodeTimeouts(t, policies)
	kind, route := selected[0].Policy.Type, []*resource.Policy{routes[0].Policy}
	random := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		table, pager := newTable(), matched.NewPager(maphash.MakeSeed())
		class := table.ClassConfig(kind, d, matched.NewMatched(selected))
		if random.IntN(4) > 0 { // it has an index of its items, which the others share
			table.OutboundEvaluator(class, nil, route).Config(d, nil)
		}
		left := slices.Clone(selected)
		for range 3 {
			var positions []int
			for at := range left {
				if random.IntN(8) == 0 {
					positions = append(positions, at)
				}
			}
			for _, at := range slices.Backward(positions) {
				left = slices.Delete(left, at, at+1)
			}
			class = table.Without(pager, class, d, positions)
			fresh := table.ClassConfig(kind, d, matched.NewMatched(left))
			got := table.OutboundEvaluator(class, nil, route).Config(d, nil)
			want := table.OutboundEvaluator(fresh, nil, route).Config(d, nil)
			for i := range want.Outbounds {
				if got.Outbounds[i].Effective != want.Outbounds[i].Effective || !slices.Equal(got.Outbounds[i].Routes, want.Outbounds[i].Routes) {
					t.Fatalf("without %v of %d: outbound %d has another conf", positions, len(left)+len(positions), i)
				}
			}
			for i := range want.Inbounds {
				if got.Inbounds[i] != want.Inbounds[i] {
					t.Fatalf("without %v of %d: inbound %d has another configuration", positions, len(left)+len(positions), i)
				}
			}
		}
	}
}
