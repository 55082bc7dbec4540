package bench

import (
	"fmt"
	"testing"

	"github.com/meshmatch/meshmatch/core/conf/meshtrafficpermission"
	"github.com/meshmatch/meshmatch/core/partition"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// BenchmarkFrom makes both rule views of an inbound's clients, from items that
// set an action. With the first shape rule building used to double with every
// key: twenty of them took 191 s and over a million rules in the released
// control plane that this is measured against.
func BenchmarkFrom(b *testing.B) {
	kind := meshtrafficpermission.Kind()
	for _, s := range []struct {
		name  string
		sizes []int
		item  func(i int) resource.TargetRef
		rules func(k int) int // at most
	}{
		{"distinct-keys", []int{5, 10, 20, 40}, func(i int) resource.TargetRef {
			return subset(fmt.Sprintf("key-%d", i), "v")
		}, func(k int) int { return 2 * k }},
		{"services", []int{5, 10, 20, 40}, func(i int) resource.TargetRef {
			if i == 0 {
				return resource.TargetRef{Kind: resource.TargetMesh}
			}
			return resource.TargetRef{Kind: resource.TargetMeshService, Name: fmt.Sprintf("svc-%d", i)}
		}, func(k int) int { return k }},
		{"two-keys", []int{5, 10, 20, 40}, func(i int) resource.TargetRef {
			return subset([]string{"team", "zone"}[i%2], fmt.Sprintf("v%d", i/2))
		}, func(k int) int { return 2 * k * k }},
	} {
		for _, k := range s.sizes {
			from := rules.NewFrom(kind, []*resource.Policy{fromPolicy(kind, k, s.item)})
			for _, form := range []struct {
				name string
				view func(partition.Limits) ([]rules.SelectorRule, error)
			}{{"ordered", from.Ordered}, {"disjoint", from.Disjoint}} {
				b.Run(fmt.Sprintf("shape=%s/form=%s/k=%d", s.name, form.name, k), func(b *testing.B) {
					var view []rules.SelectorRule
					b.ReportAllocs()
					for b.Loop() {
						var err error
						if view, err = form.view(partition.Limits{}); err != nil {
							b.Fatal(err)
						}
					}
					if len(view) < 2 || len(view) > s.rules(k) {
						b.Fatalf("%d rules, want 2 to %d", len(view), s.rules(k))
					}
					b.ReportMetric(float64(len(view)), "rules")
				})
			}
		}
	}
}

func subset(key, value string) resource.TargetRef {
	return resource.TargetRef{Kind: resource.TargetMeshSubset, Tags: resource.Tags{{Key: key, Value: value}}}
}

// fromPolicy has k items that allow and deny in turn.
func fromPolicy(kind *resource.Kind, k int, item func(int) resource.TargetRef) *resource.Policy {
	actions := []meshtrafficpermission.Action{meshtrafficpermission.Allow, meshtrafficpermission.Deny}
	p := &resource.Policy{Type: kind, TargetRef: resource.TargetRef{Kind: resource.TargetMesh}}
	for i := range k {
		p.From = append(p.From, resource.Item{TargetRef: item(i), Conf: &meshtrafficpermission.Conf{Action: &actions[i%2]}})
	}
	return p
}
