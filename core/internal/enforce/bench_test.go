package enforce_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/resource"
)

// fleet returns 1,000 policies on 1,000 clusters with 5,000 bindings. Each
// policy is placed on all clusters and on a region, and overridden in three of
// 1,000 waves of 100 clusters.
func fleet() *ocm.Resources {
	const policies, clusters, waves = 1_000, 1_000, 1_000
	r := &ocm.Resources{}
	meta := func(kind, name string) resource.Meta {
		return resource.Meta{ID: resource.ID{Kind: kind, Namespace: "policies", Name: name}}
	}
	all := make([]string, clusters)
	for i := range all {
		all[i] = fmt.Sprintf("cluster-%03d", i)
		c := &ocm.ManagedCluster{Meta: meta(ocm.ManagedClusterKind, all[i])}
		c.Namespace, c.Labels = "", resource.Tags{{Key: "region", Value: fmt.Sprint(i % 10)}}
		r.ManagedClusters = append(r.ManagedClusters, c)
	}
	placement := func(name string, decided []string) {
		r.Placements = append(r.Placements, &ocm.Placement{Meta: meta(ocm.PlacementKind, name)})
		r.PlacementDecisions = append(r.PlacementDecisions, &ocm.PlacementDecision{
			Meta: meta(ocm.PlacementDecisionKind, name+"-1"), Placement: name, Clusters: decided,
		})
	}
	placement("all", all)
	for i := range waves {
		at := i % 10 * 100
		placement(fmt.Sprint("wave-", i), all[at:at+100])
	}
	for i := range 10 {
		rule := &ocm.PlacementRule{Meta: meta(ocm.PlacementRuleKind, fmt.Sprint("region-", i))}
		rule.ClusterSelector = &ocm.LabelSelector{Labels: resource.Tags{{Key: "region", Value: fmt.Sprint(i)}}}
		r.PlacementRules = append(r.PlacementRules, rule)
	}
	for i := range policies {
		policy := fmt.Sprint("policy-", i)
		r.Policies = append(r.Policies, &ocm.Policy{Meta: meta(ocm.PolicyKind, policy)})
		bind := func(kind, placement string, override bool) {
			r.PlacementBindings = append(r.PlacementBindings, &ocm.PlacementBinding{
				Meta:      meta(ocm.PlacementBindingKind, policy+"-"+placement),
				Placement: ocm.Ref{Kind: kind, Name: placement}, Enforce: override, SubFilter: override,
				Subjects: []ocm.Subject{{Ref: ocm.Ref{Kind: ocm.PolicyKind, Name: policy}}},
			})
		}
		bind(ocm.PlacementKind, "all", false)
		bind(ocm.PlacementRuleKind, fmt.Sprint("region-", i%10), false)
		for k := range 3 {
			bind(ocm.PlacementKind, fmt.Sprint("wave-", (i*3+k)%waves), true)
		}
	}
	return r
}

// BenchmarkState makes the state of the fleet and reads the action, with its causes,
// of each policy on each cluster.
func BenchmarkState(b *testing.B) {
	resources := fleet()
	b.ReportAllocs()
	for b.Loop() {
		state := stateOf(resources)
		targets, enforced := 0, 0
		for effect := range state.Effects() {
			for _, target := range state.Targets(effect) {
				targets++
				if target.Action == ocm.Enforce && len(target.Because) > 0 {
					enforced++
				}
			}
		}
		if targets != 1_000_000 || enforced != 300_000 {
			b.Fatalf("%d targets, %d enforced", targets, enforced)
		}
	}
}

// BenchmarkDecision adds a cluster to one PlacementDecision of the fleet, or
// removes it. Three policies are overridden by this decision.
func BenchmarkDecision(b *testing.B) {
	resources := fleet()
	state := stateOf(resources)
	before := resources.PlacementDecisions[1]
	after := *before
	after.Clusters = before.Clusters[:99]
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		decision, want := &after, 299
		if i%2 == 1 {
			decision, want = before, 300
		}
		e := state.Edit()
		e.Put(decision)
		state, _ = e.Commit()
		if i < 2 {
			b.StopTimer()
			if got := strings.Count(targets(state, "policies", "policy-0"), " enforce "); got != want {
				b.Fatalf("policy-0 is enforced on %d clusters, not %d", got, want)
			}
			b.StartTimer()
		}
	}
}
