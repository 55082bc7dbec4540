package match_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/match"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/internal/shape"
	"github.com/meshmatch/meshmatch/core/kind/meshtimeout"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// BenchmarkSelect finds and orders the policies of one dataplane.
func BenchmarkSelect(b *testing.B) {
	kind := meshtimeout.Kind()
	for _, s := range []struct {
		name     string
		policies func(*resource.Kind, int) []*resource.Policy
		want     map[int]int // selected, by number of policies
	}{
		{"fleet", shape.Fleet, map[int]int{100: 19, 1_000: 112, 10_000: 1_090}},
		{"sparse", shape.Sparse, map[int]int{100: 7, 1_000: 7, 10_000: 7}},
		{"shared-label", shape.SharedLabel, map[int]int{100: 7, 1_000: 7, 10_000: 7}},
	} {
		for _, n := range []int{100, 1_000, 10_000} {
			policies := s.policies(kind, n)
			d := shape.Dataplane(7, 0)
			index, err := match.NewIndex(policies, semantics.Reading{})
			if err != nil {
				b.Fatal(err)
			}
			want := shape.Scan(policies, d)
			if len(want) != s.want[n] {
				b.Fatalf("%d of the %s selected, want %d", len(want), s.name, s.want[n])
			}
			b.Run(fmt.Sprintf("shape=%s/policies=%d/impl=index", s.name, n), func(b *testing.B) {
				var buffer match.Buffer
				selected := index.Select(d, results.Shadow, &buffer) // grows the buffer
				buffer.Candidates = 0
				b.ReportAllocs()
				for b.Loop() {
					selected = index.Select(d, results.Shadow, &buffer)
				}
				if !slices.EqualFunc(want, selected, func(p *resource.Policy, s results.Selected) bool { return p == s.Policy }) {
					b.Fatalf("%d selected, or in an order that differs from the %d of a scan", len(selected), len(want))
				}
				b.ReportMetric(float64(buffer.Candidates)/float64(b.N), "candidates/op")
			})
			b.Run(fmt.Sprintf("shape=%s/policies=%d/impl=scan", s.name, n), func(b *testing.B) {
				var selected []*resource.Policy
				b.ReportAllocs()
				for b.Loop() {
					selected = shape.Scan(policies, d)
				}
				if !slices.Equal(want, selected) {
					b.Fatalf("%d selected, want %d", len(selected), len(want))
				}
			})
		}
	}
}
