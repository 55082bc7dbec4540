package blocks_test

import (
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/matched"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// After each of many changes, the confs of outbounds equal those that are evaluated from
// nothing. A change replaces the confs of some policies or removes some policies. New
// confs set other leaves, so items that were overridden become effective.
func TestReplacedConfs(t *testing.T) {
	all := kinds.All()
	confs := confsOf(t, all, 60)
	random := rand.New(rand.NewPCG(5, 6))
	d := &resource.Dataplane{Outbounds: []resource.Outbound{
		{Tags: resource.Tags{{Key: resource.ServiceTag, Value: "a"}}},
		{Tags: resource.Tags{{Key: resource.ServiceTag, Value: "b"}}},
	}}
	mesh := resource.TargetRef{Kind: resource.TargetMesh}
	service := resource.TargetRef{Kind: resource.TargetMeshService, Name: "a"}
	for _, kind := range all.All() {
		if kind.To == nil || kind.IsRoute() || len(confs[kind.To]) == 0 {
			continue
		}
		conf := func() resource.Conf { return confs[kind.To][random.IntN(len(confs[kind.To]))] }
		for range 20 {
			var policies []*resource.Policy
			for i := range 30 {
				p := &resource.Policy{
					Meta: resource.Meta{ID: resource.ID{Kind: kind.Name, Name: fmt.Sprint(i)}}, Type: kind, TargetRef: mesh,
					To: []resource.Item{{TargetRef: mesh, Conf: conf()}},
				}
				if i%5 == 0 {
					p.To = append(p.To, resource.Item{TargetRef: service, Conf: conf()}, resource.Item{TargetRef: mesh, Conf: conf()})
				}
				policies = append(policies, p)
			}
			table, pager := newTable(), matched.NewPager(maphash.MakeSeed())
			class := table.ClassConfig(kind, d, matchedBy(policies))
			config := table.OutboundEvaluator(class, nil, nil).Config(d, nil)
			for round := range 12 {
				before := class
				if round%4 == 3 {
					at := random.IntN(len(policies))
					policies = slices.Delete(slices.Clone(policies), at, at+1)
					class = table.Without(pager, before, d, []int{at})
					config = table.OutboundEvaluator(class, before, nil).Config(d, config)
				} else {
					policies = slices.Clone(policies)
					for range 1 + random.IntN(3) {
						at := random.IntN(len(policies))
						next := *policies[at]
						next.To = slices.Clone(next.To)
						next.To[random.IntN(len(next.To))].Conf = conf()
						policies[at] = &next
					}
					class = table.ClassConfig(kind, d, matchedBy(policies))
					config = table.OutboundEvaluator(class, before, nil).Config(d, config)
				}
				want := newTable().Evaluate(kind, d, matchedBy(policies), nil)
				for i, o := range want.Outbounds {
					got := config.Outbounds[i].Effective
					if !slices.Equal(got.Origins, o.Effective.Origins) || !kind.To.Conf.Equal(got.Conf, o.Effective.Conf) {
						t.Fatalf("%s, round %d, outbound %d:\n%s\nwant\n%s", kind.Name, round, i, text(t, got.Conf), text(t, o.Effective.Conf))
					}
				}
			}
		}
	}
}
