package results_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/partition"
	"github.com/meshmatch/meshmatch/core/internal/shape"
	"github.com/meshmatch/meshmatch/core/kind/meshtimeout"
	"github.com/meshmatch/meshmatch/core/kind/meshtrafficpermission"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/fuzz"
	"github.com/meshmatch/meshmatch/fuzz/naive"
)

// BenchmarkFrom makes both rule views of an inbound's clients from k items that
// set an action; the result is k rules. With distinct keys the cost of the usual
// algorithm doubles with each key: a released control plane took 191 s for twenty
// keys, and made over a million rules.
func BenchmarkFrom(b *testing.B) {
	kind := meshtrafficpermission.Kind()
	for _, s := range []struct {
		name string
		item func(i int) resource.TargetRef
	}{
		{"distinct-keys", func(i int) resource.TargetRef {
			return subset(fmt.Sprintf("key-%d", i), "v")
		}},
		{"services", func(i int) resource.TargetRef {
			if i == 0 {
				return resource.TargetRef{Kind: resource.TargetMesh}
			}
			return resource.TargetRef{Kind: resource.TargetMeshService, Name: fmt.Sprintf("svc-%d", i)}
		}},
		{"two-keys", func(i int) resource.TargetRef {
			return subset([]string{"team", "zone"}[i%2], fmt.Sprintf("v%d", i/2))
		}},
	} {
		for _, k := range []int{5, 10, 20, 40} {
			policy := fromPolicy(kind, k, s.item)
			from := results.NewFrom(kind, []*resource.Policy{policy})
			for _, form := range []struct {
				name string
				view func(partition.Limits) ([]results.SelectorRule, error)
			}{{"ordered", from.Ordered}, {"disjoint", from.Disjoint}} {
				b.Run(fmt.Sprintf("shape=%s/form=%s/k=%d", s.name, form.name, k), func(b *testing.B) {
					var view []results.SelectorRule
					b.ReportAllocs()
					for b.Loop() {
						var err error
						if view, err = form.view(partition.Limits{}); err != nil {
							b.Fatal(err)
						}
					}
					assertClients(b, policy, view)
					b.ReportMetric(float64(len(view)), "rules")
				})
			}
		}
	}
}

// BenchmarkFromPastLimit builds the ordered view of 260 items, each for the clients with one
// tag, that set five fields in turn. It needs more than 10,000 rules; the benchmark measures
// the cost of detecting this (SPEC 5.5).
func BenchmarkFromPastLimit(b *testing.B) {
	kind := meshtimeout.Kind()
	for _, keys := range []int{2, 20, 260} {
		policy := &resource.Policy{Meta: resource.Meta{ID: resource.ID{Kind: kind.Name, Mesh: shape.Mesh, Name: "p"}}, Type: kind}
		for i := range 260 {
			value := conf.Duration(i + 1)
			c := &meshtimeout.Conf{HTTP: &meshtimeout.HTTP{}}
			*[]**conf.Duration{&c.ConnectionTimeout, &c.IdleTimeout, &c.HTTP.RequestTimeout, &c.HTTP.StreamIdleTimeout, &c.HTTP.MaxStreamDuration}[i%5] = &value
			policy.From = append(policy.From, resource.Item{TargetRef: subset(fmt.Sprintf("key-%d", i%keys), fmt.Sprintf("v%d", i/keys)), Conf: c})
		}
		from := results.NewFrom(kind, []*resource.Policy{policy})
		b.Run(fmt.Sprintf("keys=%d", keys), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var limit *results.LimitError
				if _, err := from.Ordered(partition.Limits{}); !errors.As(err, &limit) || limit.Limit.Resource != partition.RulesResource {
					b.Fatalf("the view has the error %v", err)
				}
			}
		})
	}
}

// assertClients fails unless, for each client, the first rule that selects it has
// the conf of the naive reference, which merges all items that select it (SPEC 5.1).
// The clients have none, one or all of the tags that the items require.
func assertClients(b *testing.B, policy *resource.Policy, view []results.SelectorRule) {
	b.Helper()
	d := shape.Dataplane(7, 0)
	set := &resource.Set{Dataplanes: []*resource.Dataplane{d}, Policies: []*resource.Policy{policy}}
	clients, err := naive.FromOf(resource.NewKinds(policy.Type), set, d.Mesh, d.Namespace, d.Name, d.Inbounds[0].Name, naive.Options{Kind: policy.Kind})
	if err != nil {
		b.Fatal(err)
	}
	required := clients.RequiredTags()
	keys := slices.Sorted(maps.Keys(required))
	random := rand.New(rand.NewPCG(1, 1))
	for i := range 100 {
		tags := map[string]string{}
		for _, key := range keys {
			if values := append(required[key], "other"); random.IntN(100) <= i {
				tags[key] = values[random.IntN(len(values))]
			}
		}
		got := map[string]any{}
		if at := slices.IndexFunc(view, func(r results.SelectorRule) bool { return r.Selector.Matches(tags) }); at >= 0 {
			got["conf"] = view[at].Conf
		}
		want := clients.C(tags)
		delete(want, "origins")
		if diff := fuzz.Difference(want, got); diff != "" {
			b.Fatal(diff)
		}
	}
}

func subset(key, value string) resource.TargetRef {
	return resource.TargetRef{Kind: resource.TargetMeshSubset, Tags: resource.Tags{{Key: key, Value: value}}}
}

// fromPolicy returns a policy with k items that alternately allow and deny.
func fromPolicy(kind *resource.Kind, k int, item func(int) resource.TargetRef) *resource.Policy {
	actions := []meshtrafficpermission.Action{meshtrafficpermission.Allow, meshtrafficpermission.Deny}
	p := &resource.Policy{
		Meta:      resource.Meta{ID: resource.ID{Kind: kind.Name, Mesh: shape.Mesh, Name: "p"}},
		Type:      kind,
		TargetRef: resource.TargetRef{Kind: resource.TargetMesh},
	}
	for i := range k {
		p.From = append(p.From, resource.Item{TargetRef: item(i), Conf: &meshtrafficpermission.Conf{Action: &actions[i%2]}})
	}
	return p
}
