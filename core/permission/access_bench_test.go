package permission_test

import (
	"fmt"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/internal/shape"
	"github.com/meshmatch/meshmatch/core/internal/xds/rbac"
	"github.com/meshmatch/meshmatch/core/kind/meshtrafficpermission"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/fuzz"
	"github.com/meshmatch/meshmatch/fuzz/naive"
)

// BenchmarkAccess decides requests to one inbound that n policies with eight
// matches each select: a request that the last policy allows, one that it denies,
// and one that no policy matches. The decision list is made once, as for a proxy.
// The reference reads all policies for each request.
func BenchmarkAccess(b *testing.B) {
	kind := meshtrafficpermission.Kind()
	d := shape.Dataplane(7, 0)
	for _, n := range []int{10, 100, 1_000} {
		policies := shape.Permissions(kind, n)
		for _, asked := range []struct {
			name     string
			spiffeID string
			allow    bool
		}{
			{"allowed", shape.TeamID(n-1, 5), true},
			{"denied", shape.BlockedID(n - 1), false},
			{"unknown", "spiffe://shop.mesh/ns/unknown/sa/app-0", false},
		} {
			set := &resource.Set{Dataplanes: []*resource.Dataplane{d}, Policies: policies}
			kinds := resource.NewKinds(kind)
			reference := func() map[string]any {
				answer, err := naive.Access(kinds, set, d.Mesh, d.Namespace, d.Name, d.Inbounds[0].Name, naive.Request{SpiffeID: asked.spiffeID}, naive.Options{})
				if err != nil {
					b.Fatal(err)
				}
				delete(answer, "warnings")
				return answer
			}
			b.Run(fmt.Sprintf("policies=%d/request=%s/impl=list", n, asked.name), func(b *testing.B) {
				permissions := permission.ForInbound(permissionConfig(b, kind, policies, d), d, 0)
				answer := permissions.Decide(&request.Request{}) // the first request makes the lookup
				b.ReportAllocs()
				for b.Loop() {
					answer = permissions.Decide(&request.Request{SpiffeID: asked.spiffeID})
				}
				if answer.Decision.Allow != asked.allow {
					b.Fatalf("the answer is %s", answer.Decision)
				}
				if diff := fuzz.Difference(reference(), decisionTree(answer.Decision)); diff != "" {
					b.Fatal(diff)
				}
			})
			b.Run(fmt.Sprintf("policies=%d/request=%s/impl=naive", n, asked.name), func(b *testing.B) {
				b.ReportAllocs()
				var answer map[string]any
				for b.Loop() {
					answer = reference()
				}
				if allow := answer["decision"] == "ALLOW"; allow != asked.allow {
					b.Fatalf("the answer is %v", answer)
				}
			})
		}
	}
}

// decisionTree returns a decision by rules in the form of `access`.
func decisionTree(d permission.Decision) map[string]any {
	by := map[string]any{"default": true}
	if d.By != nil {
		by = map[string]any{"kri": d.By.KRI, "rule": d.By.Rule, "list": d.By.List.String(), "index": d.By.Index}
	}
	return map[string]any{"decision": d.String(), "by": by}
}

// BenchmarkAccessFilter makes the RBAC filter of such an inbound from the policies
// that select it: it compiles their entries and marshals them in Envoy's form.
func BenchmarkAccessFilter(b *testing.B) {
	kind := meshtrafficpermission.Kind()
	d := shape.Dataplane(7, 0)
	for _, n := range []int{10, 100, 1_000} {
		config := permissionConfig(b, kind, shape.Permissions(kind, n), d)
		for _, form := range []struct {
			name string
			form rbac.Form
		}{{"matcher", rbac.MatcherForm}, {"rules", rbac.RulesForm}} {
			b.Run(fmt.Sprintf("policies=%d/form=%s", n, form.name), func(b *testing.B) {
				size := 0
				b.ReportAllocs()
				for b.Loop() {
					filter, err := rbac.New(permission.ForInbound(config, d, 0), form.form, "inbound.")
					if err != nil {
						b.Fatal(err)
					}
					size = len(filter.Config.Value)
				}
				// The filter contains every identity of every policy.
				if least := 8 * n * len("spiffe://shop.mesh/ns/"); size < least {
					b.Fatalf("%d bytes, want %d or more", size, least)
				}
				b.ReportMetric(float64(size), "filter-bytes")
			})
		}
	}
}

func permissionConfig(b *testing.B, kind *resource.Kind, policies []*resource.Policy, d *resource.Dataplane) *results.Config {
	b.Helper()
	view, err := core.Options{Semantics: core.TargetRef}.NewView(b.Context(), resource.NewKinds(kind), &resource.Set{Policies: policies, Dataplanes: []*resource.Dataplane{d}})
	if err != nil {
		b.Fatal(err)
	}
	config, err := view.Config(d, kind.Name, core.Enforced)
	if err != nil {
		b.Fatal(err)
	}
	return config
}
