package bench

import (
	"fmt"
	"testing"

	"github.com/meshmatch/meshmatch/bench/shape"
	"github.com/meshmatch/meshmatch/core/match"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/fuzz/naive"
)

// BenchmarkAccess answers requests to one inbound that n policies with eight
// matches each select: one that the last policy allows, one that it denies and
// one that nobody knows. The list is made once, as for a proxy; the reference
// reads all policies for each request.
func BenchmarkAccess(b *testing.B) {
	kind := shape.PermissionKind()
	d := shape.Dataplane(7, 0)
	for _, n := range []int{10, 100, 1_000} {
		policies := shape.Permissions(kind, n)
		for _, request := range []struct {
			name     string
			spiffeID string
			allow    bool
		}{
			{"allowed", shape.TeamID(n-1, 5), true},
			{"denied", shape.BlockedID(n - 1), false},
			{"unknown", "spiffe://shop.mesh/ns/nobody/sa/app-0", false},
		} {
			set := &resource.Set{Dataplanes: []*resource.Dataplane{d}, Policies: policies}
			kinds := resource.NewKinds(kind)
			reference := func() map[string]any {
				answer, err := naive.Access(kinds, set, d.Mesh, d.Namespace, d.Name, d.Inbounds[0].Name, naive.Request{SpiffeID: request.spiffeID}, naive.Options{})
				if err != nil {
					b.Fatal(err)
				}
				delete(answer, "warnings")
				return answer
			}
			b.Run(fmt.Sprintf("policies=%d/request=%s/impl=list", n, request.name), func(b *testing.B) {
				permissions := permission.Of(permissionConfig(b, kind, policies, d), d, 0)
				var answer permission.Answer
				b.ReportAllocs()
				for b.Loop() {
					answer = permissions.Decide(&permission.Request{SpiffeID: request.spiffeID})
				}
				if answer.Decision.Allow != request.allow {
					b.Fatalf("the answer is %s", answer.Decision)
				}
				assertJSON(b, sortedJSON(b, reference()), answer.Decision)
			})
			b.Run(fmt.Sprintf("policies=%d/request=%s/impl=naive", n, request.name), func(b *testing.B) {
				b.ReportAllocs()
				var answer map[string]any
				for b.Loop() {
					answer = reference()
				}
				if allow := answer["decision"] == "ALLOW"; allow != request.allow {
					b.Fatalf("the answer is %v", answer)
				}
			})
		}
	}
}

// BenchmarkAccessFilter makes the filter of such an inbound from nothing:
// select, order, file the entries, and marshal Envoy's form of them.
func BenchmarkAccessFilter(b *testing.B) {
	kind := shape.PermissionKind()
	d := shape.Dataplane(7, 0)
	for _, n := range []int{10, 100, 1_000} {
		policies := shape.Permissions(kind, n)
		for _, form := range []struct {
			name string
			form xds.RBACForm
		}{{"matcher", xds.MatcherForm}, {"rules", xds.RulesForm}} {
			b.Run(fmt.Sprintf("policies=%d/form=%s", n, form.name), func(b *testing.B) {
				size := 0
				b.ReportAllocs()
				for b.Loop() {
					config, err := xds.RBAC(permission.Of(permissionConfig(b, kind, policies, d), d, 0), form.form, "inbound.").Any()
					if err != nil {
						b.Fatal(err)
					}
					size = len(config.Value)
				}
				// Every identity of every policy is in it.
				if least := 8 * n * len("spiffe://shop.mesh/ns/"); size < least {
					b.Fatalf("%d bytes, want %d or more", size, least)
				}
				b.ReportMetric(float64(size), "filter-bytes")
			})
		}
	}
}

func permissionConfig(b *testing.B, kind *resource.Kind, policies []*resource.Policy, d *resource.Dataplane) *rules.Config {
	b.Helper()
	index, err := match.NewIndex(policies, nil)
	if err != nil {
		b.Fatal(err)
	}
	var buffer match.Buffer
	return rules.Evaluate(kind, d, match.NewMatched(index.Select(d, match.Shadow, &buffer)), nil)
}
