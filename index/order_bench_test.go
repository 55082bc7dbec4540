package index

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// BenchmarkOrderSort sorts some slots of an order by rank. The baselines sort
// them by the compare function, and sort only their ranks.
func BenchmarkOrderSort(b *testing.B) {
	for _, c := range []struct{ n, of int }{
		{7, 10_000}, {31, 10_000}, {32, 10_000}, {64, 10_000}, {112, 1_000}, {1_090, 10_000}, {64, 100_000}, {200, 100_000}, {10_900, 100_000},
	} {
		o := shuffled(b, uint32(c.of))
		r := rand.New(rand.NewPCG(31, 32))
		given := make([]uint32, c.n)
		for i, id := range r.Perm(c.of)[:c.n] {
			given[i] = uint32(id)
		}
		want := slices.Clone(given)
		slices.SortFunc(want, byKey)
		ids, scratch := slices.Clone(given), new(Scratch)
		for _, how := range []struct {
			name string
			sort func()
		}{
			{"order", func() { o.Sort(ids, scratch) }},
			{"compare", func() { slices.SortFunc(ids, byKey) }},
			{"ranks", func() {
				for i, id := range ids {
					ids[i] = o.rank[id]
				}
				slices.Sort(ids)
				for i, rank := range ids {
					ids[i] = o.at[rank]
				}
			}},
		} {
			b.Run(fmt.Sprintf("%d of %d/%s", c.n, c.of, how.name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					copy(ids, given)
					how.sort()
					if ids[0] != want[0] || ids[c.n-1] != want[c.n-1] {
						b.Fatal("not sorted")
					}
				}
				if !slices.Equal(ids, want) {
					b.Fatal("not sorted")
				}
			})
		}
	}
}

// BenchmarkOrderPut publishes a version with one slot moved.
func BenchmarkOrderPut(b *testing.B) {
	for _, n := range []uint32{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			e := shuffled(b, n).Edit(byKey)
			b.ReportAllocs()
			for i := uint32(0); b.Loop(); i++ {
				e.Put(i % n)
				if o, err := e.Commit(); err != nil || o.Len() != int(n) {
					b.Fatal(err)
				}
			}
		})
	}
}
