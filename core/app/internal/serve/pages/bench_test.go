package pages_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/shape"
	"github.com/meshmatch/meshmatch/core/resource"
)

// largeSet returns n dataplanes of 500 services, with 10 outbounds each, 1,000 policies and
// identities.
func largeSet(t testing.TB, s *site, n int) *resource.Set {
	t.Helper()
	set, err := s.loader.Decode(t.Context(), resource.Input{Name: "identity.yaml", Data: []byte(`
{type: MeshIdentity, name: all, spec: {selector: {dataplane: {matchLabels: {}}}, spiffeID: {trustDomain: large.mesh, path: '/{{ label "app" }}'}, provider: {type: Bundled, bundled: {autogenerate: {enabled: true}}}}}
---
{type: MeshTrafficPermission, name: some, spec: {rules: [{default: {allow: [{spiffeId: {type: Prefix, value: 'spiffe://large.mesh/svc-1'}}]}}]}}
`)})
	if err != nil {
		t.Fatal(err)
	}
	for j := range n {
		d := shape.Dataplane(j%500, 10)
		d.Name, d.Address = fmt.Sprintf("dp-%06d", j), fmt.Sprintf("10.%d.%d.%d", j>>16&255, j>>8&255, j&255)
		set.Dataplanes = append(set.Dataplanes, d)
	}
	set.Policies = append(set.Policies, shape.Fleet(s.loader.Kinds.Lookup("MeshTimeout"), 1000)...)
	slices.SortFunc(set.Policies, func(a, b *resource.Policy) int { return a.ID.Compare(b.ID) })
	return set
}

// BenchmarkPage asks for pages of 100,000 dataplanes. The metric page-B is the size without
// compression.
func BenchmarkPage(b *testing.B) {
	s := newSite(b)
	s.publish(largeSet(b, s, 100_000))
	// The findings are sought once, in the background; they are not measured.
	for s.ask(http.MethodGet, "/findings?o=json", nil).Code != http.StatusOK {
	}
	for _, page := range []struct{ name, path, text string }{
		{"overview", "/", "100,000"},
		{"dataplanes", "/meshes/default/dataplanes", "1 to 100 of 100,000"},
		{"last", "/meshes/default/dataplanes?page=1000", "99,901 to 100,000"},
		{"search", "/meshes/default/dataplanes?q=svc-77+zone-1", "of 100,000 dataplanes"},
		{"dataplane", "/meshes/default/dataplanes/dp-012345", "svc-345"},
		{"policy", "/meshes/default/policies/MeshTimeout/policy-000000", "1 to 100 of 100,000"},
		{"values", "/meshes/default/values?kind=mt&field=http.requestTimeout", "Of 100,000"},
		{"try", "/meshes/default/try?dataplane=dp-000007&path=/", "Answer"},
		{"access", "/meshes/default/access?to=svc-7", "Who may call what"},
		{"find", "/search?q=dp-0123", "dp-012300"},
	} {
		b.Run("page="+page.name, func(b *testing.B) { benchmarkPage(b, s, page.path, page.text) })
	}
}

// BenchmarkGraph asks who may call whom of 149 services and the other clients: a graph of
// 150 nodes, and a matrix of 150 rows and 149 columns.
func BenchmarkGraph(b *testing.B) {
	s := ofText(b, services(149))
	benchmarkPage(b, s, "/meshes/default/access", `<svg class="graph"`)
}

func benchmarkPage(b *testing.B, s *site, path, text string) {
	size := 0
	for b.Loop() {
		w := s.ask(http.MethodGet, path, nil)
		if size = w.Body.Len(); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), text) {
			b.Fatalf("status %d: %.2000s", w.Code, w.Body)
		}
	}
	b.ReportMetric(float64(size), "page-B")
}

// services is a mesh in which each of n services may be called by up to three others.
func services(n int) string {
	var b strings.Builder
	b.WriteString(`{type: MeshIdentity, name: all, spec: {selector: {dataplane: {matchLabels: {}}}, spiffeID: {trustDomain: a.mesh, path: '/{{ label "app" }}'}, provider: {type: Bundled, bundled: {autogenerate: {enabled: true}}}}}` + "\n")
	for i := range n {
		fmt.Fprintf(&b, "---\n{type: Dataplane, name: d%d, labels: {app: s%d}, networking: {address: 10.0.%d.%d, inbound: [{name: main, port: 80, protocol: http, tags: {kuma.io/service: s%d}}]}}\n", i, i, i/250, i%250+1, i)
		allow := []string{"{spiffeId: {type: Exact, value: 'spiffe://a.mesh/none'}}"}
		for _, from := range []int{(i - 1) / 3, i - 7, i * 5 / 9} {
			if from >= 0 && from < i {
				allow = append(allow, fmt.Sprintf("{spiffeId: {type: Exact, value: 'spiffe://a.mesh/s%d'}}", from))
			}
		}
		fmt.Fprintf(&b, "---\n{type: MeshTrafficPermission, name: p%d, spec: {targetRef: {kind: MeshService, name: s%d}, rules: [{default: {allow: [%s]}}]}}\n", i, i, strings.Join(allow, ", "))
	}
	return b.String()
}
