package bench

import (
	"fmt"
	"testing"

	"github.com/meshmatch/meshmatch/bench/shape"
	"github.com/meshmatch/meshmatch/core/match"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
	"github.com/meshmatch/meshmatch/fuzz/naive"
)

// BenchmarkTo computes the confs of all outbounds of one dataplane of the
// fleet from nothing: select, order, concatenate, merge.
func BenchmarkTo(b *testing.B) {
	kind := shape.TimeoutKind()
	for _, n := range []int{100, 1_000, 10_000} {
		index, err := match.NewIndex(shape.Fleet(kind, n), nil)
		if err != nil {
			b.Fatal(err)
		}
		d := shape.Dataplane(7, 100)
		b.Run(fmt.Sprintf("outbounds=100/policies=%d/impl=generated", n), func(b *testing.B) {
			var buffer match.Buffer
			var config *rules.Config
			b.ReportAllocs()
			for b.Loop() {
				config = rules.Evaluate(kind, d, index.Select(d, &buffer), nil)
			}
			assertAllSet(b, config.Outbounds)
		})
	}
}

// BenchmarkToItems computes the confs of n outbounds from n items, one for
// each, over a conf for all of them.
func BenchmarkToItems(b *testing.B) {
	kind := shape.TimeoutKind()
	for _, n := range []int{10, 100, 1_000} {
		p := &resource.Policy{
			Meta:      resource.Meta{ID: resource.ID{Kind: kind.Name, Mesh: shape.Mesh, Name: "p"}},
			Type:      kind,
			TargetRef: resource.TargetRef{Kind: resource.TargetMesh},
			To:        []resource.Item{{TargetRef: resource.TargetRef{Kind: resource.TargetMesh}, Conf: shape.Timeout(0)}},
		}
		for i := range n {
			p.To = append(p.To, resource.Item{
				TargetRef: resource.TargetRef{Kind: resource.TargetMeshService, Name: shape.Service(i)},
				Conf:      shape.Timeout(i),
			})
		}
		d := shape.Dataplane(7, n)
		selected := []match.Selected{{Policy: p}}
		b.Run(fmt.Sprintf("items=%d/impl=generated", n), func(b *testing.B) {
			var config *rules.Config
			b.ReportAllocs()
			for b.Loop() {
				config = rules.Evaluate(kind, d, selected, nil)
			}
			assertAllSet(b, config.Outbounds)
		})
		b.Run(fmt.Sprintf("items=%d/impl=naive", n), func(b *testing.B) {
			set := &resource.Set{Dataplanes: []*resource.Dataplane{d}, Policies: []*resource.Policy{p}}
			kinds := resource.NewKinds(kind)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := naive.Inspect(kinds, set, d.Mesh, d.Namespace, d.Name, naive.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func assertAllSet(b *testing.B, outbounds []rules.OutboundConfig) {
	b.Helper()
	for i, o := range outbounds {
		if o.Effective == nil || len(o.Origins) == 0 {
			b.Fatalf("outbound %d has no conf", i)
		}
	}
}
