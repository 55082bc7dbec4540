package semantics_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

var all = []semantics.Semantics{semantics.TargetRef, semantics.Kuma, semantics.Kuma3}

// selects reports whether a policy selects a dataplane at one of its points: the point and the
// proxy have each fact that it requires.
func selects(s semantics.Semantics, p *resource.Policy, d *resource.Dataplane) bool {
	required, attached := s.AppendRequired(nil, p)
	if attached {
		return false // where its route is; no test of this table
	}
	for point := range s.Points(d) {
		var facts []semantics.Fact
		yield := func(f semantics.Fact) { facts = append(facts, f) }
		s.ProxyFacts(d, yield)
		s.PointFacts(d, point, yield)
		has := func(want semantics.Fact) bool {
			return slices.ContainsFunc(facts, func(f semantics.Fact) bool {
				return f == want || f.Space == semantics.ZoneScope && want.Space == f.Space && f.Value == semantics.AnyZone
			})
		}
		if !slices.ContainsFunc(required, func(f semantics.Fact) bool { return !has(f) }) {
			return true
		}
	}
	return false
}

// A targetRef selects what it selects in each way to read it (SPEC 2.2, 17.1). The word of a row
// says by which ways: t for targetref, 2 for kuma, 3 for kuma3.
func TestTargets(t *testing.T) {
	const (
		web = `{type: Dataplane, name: web-x, labels: {app: web, kuma.io/display-name: web, kuma.io/zone: east, kuma.io/origin: zone, k8s.kuma.io/namespace: shop},
			networking: {address: 10.0.0.1, inbound: [{name: http, port: 80, tags: {kuma.io/service: web, version: v1}}, {name: admin, port: 81, tags: {kuma.io/service: web, version: v2}}]}}`
		delegated = `{type: Dataplane, name: edge, networking: {address: 10.0.0.2, gateway: {type: DELEGATED, tags: {kuma.io/service: edge}}}}`
		idle      = `{type: Dataplane, name: idle, networking: {address: 10.0.0.3}}`
	)
	for _, c := range []struct {
		dataplane, labels, target string
		by                        string
	}{
		{web, "", "{kind: Mesh}", "t23"},
		{delegated, "", "{kind: Mesh}", "t23"},
		{idle, "", "{kind: Mesh}", "t"}, // Kuma's policies are of inbounds and gateways
		{web, "", "{kind: Mesh, proxyTypes: [Gateway]}", "3"},
		{delegated, "", "{kind: Mesh, proxyTypes: [Gateway]}", "t23"},
		{web, "", "{kind: Dataplane, labels: {app: web}}", "t23"},
		{web, "", "{kind: Dataplane, labels: {app: other}}", ""},
		{web, "", "{kind: Dataplane, labels: {app: web}, sectionName: admin}", "t23"},
		{web, "", "{kind: Dataplane, labels: {app: web}, sectionName: other}", ""},
		{web, "", "{kind: Dataplane, name: web-x}", "t3"}, // Kuma 3 reads no name
		{web, "", "{kind: Dataplane, name: web}", "3"},    // Kuma 2 looks in the namespace and zone of the policy
		{web, "kuma.io/zone: east, kuma.io/origin: zone, k8s.kuma.io/namespace: shop", "{kind: Dataplane, name: web}", "23"},
		{web, "kuma.io/zone: west, kuma.io/origin: zone", "{kind: Mesh}", "t"},
		{web, "kuma.io/zone: east, kuma.io/origin: zone, kuma.io/policy-role: system", "{kind: Mesh}", "t23"},
		{web, "", `{kind: MeshSubset, tags: {version: v2}}`, "t2"},
		{web, "", `{kind: MeshSubset, tags: {version: v1, kuma.io/service: api}}`, ""},
		{web, "", `{kind: MeshService, name: web}`, "t2"},
		{web, "", `{kind: MeshServiceSubset, name: web, tags: {version: "v1"}}`, "t2"},
		{delegated, "", `{kind: MeshGateway, name: edge}`, ""}, // it is of builtin gateways
	} {
		labels := ""
		if c.labels != "" {
			labels = "labels: {" + c.labels + "}, "
		}
		set := loaded(t, fmt.Sprintf("%s\n---\n{type: MeshTimeout, name: p, %sspec: {targetRef: %s, to: [{default: {idleTimeout: 1s}}]}}", c.dataplane, labels, c.target))
		by := ""
		for i, s := range all {
			if selects(s, set.Policies[0], set.Dataplanes[0]) {
				by += []string{"t", "2", "3"}[i]
			}
		}
		if by != c.by {
			t.Errorf("%s %s: selected by %q, want %q\n%s", c.target, c.labels, by, c.by, c.dataplane)
		}
	}
}

// In Kuma, `to` items of destinations are ordered by the top-level targetRef, the origin and role of
// their policy, the targetRef of the item, and then by name; by SPEC 3 they are ordered as
// policies (SPEC 17.3). Each item overrides those before it.
func TestCompareItems(t *testing.T) {
	item := func(name, labels, top, to string) results.Origin {
		set := loaded(t, fmt.Sprintf("{type: MeshTimeout, name: %s, labels: {%s}, spec: {targetRef: %s, to: [{targetRef: %s, default: {idleTimeout: 1s}}]}}", name, labels, top, to))
		return results.Origin{Policy: set.Policies[0]}
	}
	items := []results.Origin{
		item("z", "", "{kind: Mesh}", "{kind: Mesh}"),
		item("a", "", "{kind: Mesh}", "{kind: Mesh}"),
		item("s", "", "{kind: Mesh}", "{kind: MeshService, name: api}"),
		item("p", "", "{kind: Mesh}", "{kind: MeshService, name: api, sectionName: http}"),
		item("e", "kuma.io/origin: zone, kuma.io/zone: east", "{kind: Mesh}", "{kind: Mesh}"),
		item("d", "", "{kind: Dataplane, labels: {app: web}}", "{kind: Mesh}"),
		item("i", "", "{kind: Dataplane, labels: {app: web}, sectionName: http}", "{kind: Mesh}"),
	}
	for _, s := range all[1:] {
		reading := semantics.Reading{Semantics: s, Order: s.Order()}
		for i := range items {
			for j := range items {
				a, _ := s.RankItem(items[i])
				b, _ := s.RankItem(items[j])
				if got := reading.CompareItems(&a, &b); sign(got) != sign(i-j) {
					t.Errorf("%s: %s and %s compare as %d", s, items[i].Policy.Name, items[j].Policy.Name, got)
				}
			}
		}
	}
	own := semantics.Reading{Semantics: semantics.TargetRef, Order: func(a, b *resource.Policy) int { return strings.Compare(a.Name, b.Name) }}
	a, _ := semantics.TargetRef.RankItem(items[1])
	z, _ := semantics.TargetRef.RankItem(items[0])
	if own.CompareItems(&a, &z) >= 0 {
		t.Error("the order of an embedder is not used")
	}
	route := results.Origin{Policy: loaded(t, `{type: MeshTimeout, name: r, spec: {targetRef: {kind: MeshHTTPRoute, name: r}, to: [{default: {idleTimeout: 1s}}]}}`).Policies[0]}
	for i, s := range all {
		if _, applies := s.RankItem(route); applies != (i == 0) {
			t.Errorf("%s: an item of a policy that is attached to a route applies to destinations: %v", s, applies)
		}
	}
}

func sign(n int) int {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}
