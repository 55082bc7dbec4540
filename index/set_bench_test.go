package index

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/RoaringBitmap/roaring/v2"
)

// BenchmarkSetShape measures the same ids in both shapes, for several numbers
// of ids. The value of smallSet comes from it.
func BenchmarkSetShape(b *testing.B) {
	for _, n := range []int{8, 32, 64, 128, 256, 1024} {
		a := spread(n, 1)
		sa, ra := Set{ids: a}, roaring.BitmapOf(a...)
		b.Run(fmt.Sprintf("contains/slice/n=%d", n), func(b *testing.B) {
			benchContains(b, a, sa.Contains)
		})
		b.Run(fmt.Sprintf("contains/bitmap/n=%d", n), func(b *testing.B) {
			benchContains(b, a, ra.Contains)
		})
		dst := make([]uint32, 0, n)
		b.Run(fmt.Sprintf("append/slice/n=%d", n), func(b *testing.B) {
			for b.Loop() {
				if dst = sa.AppendTo(dst[:0]); len(dst) != n {
					b.Fatal(len(dst))
				}
			}
		})
		b.Run(fmt.Sprintf("append/bitmap/n=%d", n), func(b *testing.B) {
			for b.Loop() {
				if dst = (Set{bits: ra}).AppendTo(dst[:0]); len(dst) != n {
					b.Fatal(len(dst))
				}
			}
		})
		b.Run(fmt.Sprintf("edit/slice/n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				ids := slices.Insert(slices.Clone(a), n/2, a[n/2])
				if len(ids) != n+1 {
					b.Fatal(len(ids))
				}
			}
		})
		b.Run(fmt.Sprintf("edit/bitmap/n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c := ra.Clone()
				if !c.CheckedAdd(200_000) {
					b.Fatal("was there")
				}
			}
		})
		b.Run(fmt.Sprintf("bytes/n=%d", n), func(b *testing.B) {
			for b.Loop() { // nothing to measure
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(4*n), "slice-B")
			b.ReportMetric(float64(uint64(unsafe.Sizeof(*ra))+ra.GetSizeInBytes()), "bitmap-B")
		})
	}
}

func benchContains(b *testing.B, members []uint32, contains func(uint32) bool) {
	i := 0
	for b.Loop() {
		if !contains(members[i%len(members)]) {
			b.Fatal("lost a member")
		}
		i++
	}
}

// spread returns n distinct sorted ids below 100,000.
func spread(n int, seed uint64) []uint32 {
	r := rand.New(rand.NewPCG(seed, 0))
	ids := make([]uint32, 0, n)
	for len(ids) < n {
		ids = append(ids, r.Uint32N(100_000))
		if len(ids) == n {
			slices.Sort(ids)
			ids = slices.Compact(ids)
		}
	}
	return ids
}
