package variant_test

import (
	"fmt"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/shape"
	"github.com/meshmatch/meshmatch/core/internal/variant"
	"github.com/meshmatch/meshmatch/core/kind/meshtimeout"
	"github.com/meshmatch/meshmatch/core/resource"
)

// fleetDestination is the destination of outbound i of the fleet.
func fleetDestination(i int) variant.Destination {
	return variant.Destination{Mesh: shape.Mesh, Tags: resource.Tags{{Key: resource.ServiceTag, Value: shape.Service(i)}}}
}

// fleet returns an engine with policies of the fleet shape.
func fleet(b *testing.B, policies int) (*core.Engine, *resource.Kind, []*resource.Policy) {
	b.Helper()
	kind := meshtimeout.Kind()
	all := shape.Fleet(kind, policies)
	engine := core.NewEngine(resource.NewKinds(kind), core.Options{Semantics: core.TargetRef})
	if _, err := engine.Apply(b.Context(), core.Batch{Upsert: &resource.Set{Policies: all}}); err != nil {
		b.Fatal(err)
	}
	return engine, kind, all
}

// BenchmarkCompilePolicies compiles the policies of a fleet for one destination.
func BenchmarkCompilePolicies(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000} {
		b.Run(fmt.Sprintf("policies=%d", n), func(b *testing.B) {
			engine, kind, _ := fleet(b, n)
			compiler := variant.NewPolicyCompiler(engine.View(), shape.Mesh, kind)
			variants := 0
			b.ReportAllocs()
			for b.Loop() {
				v, err := compiler.Compilation(fleetDestination(7)).Compile(variant.MaxPolicyVariants)
				if err != nil || v.Set.Len() < 2 {
					b.Fatal(err)
				}
				variants = v.Set.Len()
			}
			b.ReportMetric(float64(variants), "variants")
		})
	}
}

// BenchmarkUpdatePolicies replaces one of 10,000 policies, after 100 destinations have
// been compiled.
func BenchmarkUpdatePolicies(b *testing.B) {
	engine, kind, all := fleet(b, 10_000)
	compiler := variant.NewPolicyCompiler(engine.View(), shape.Mesh, kind)
	for i := range 100 {
		if _, err := compiler.Compilation(fleetDestination(i)).Compile(variant.MaxPolicyVariants); err != nil {
			b.Fatal(err)
		}
	}
	i := 5 // this policy, and each twentieth after it, selects outbounds to one service
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		next := *all[i]
		next.To = []resource.Item{{TargetRef: next.To[0].TargetRef, Conf: shape.Timeout(i + 1)}}
		all[i] = &next
		if _, err := engine.Apply(b.Context(), core.Batch{Upsert: &resource.Set{Policies: []*resource.Policy{&next}}}); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		again := compiler.Update(engine.View())
		if len(again) != 1 {
			b.Fatalf("%d destinations are outdated, want 1", len(again))
		}
		if _, err := compiler.Compilation(again[0]).Compile(variant.MaxPolicyVariants); err != nil {
			b.Fatal(err)
		}
		if i += 20; i >= len(all) {
			i = 5
		}
	}
}
