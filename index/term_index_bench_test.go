package index

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
)

var shapes = []struct {
	name string
	make func(n int) shape
}{
	{"fleet", fleet},
	{"sparse", sparse},
	{"shared label", sharedLabel},
	{"identical", identical},
	{"crowded", crowded},
}

// BenchmarkMatch finds the selectors that match one item. The baselines scan
// all selectors, or AND bitmaps of selectors.
func BenchmarkMatch(b *testing.B) {
	for _, s := range shapes {
		f := s.make(10_000)
		x := f.index()
		dst := make([]uint32, 0, len(f.selectors))
		b.Run(s.name+"/index", func(b *testing.B) {
			b.ReportAllocs()
			candidates := 0
			for b.Loop() {
				if dst, candidates = x.Match(f.item, dst[:0]); len(dst) != f.selected {
					b.Fatalf("%d selected, want %d", len(dst), f.selected)
				}
			}
			b.ReportMetric(float64(candidates), "candidates/op")
			b.ReportMetric(float64(f.selected), "selected/op")
		})
		b.Run(s.name+"/scan", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				dst = dst[:0]
				for id, terms := range f.selectors {
					if requires(terms, f.item) {
						dst = append(dst, uint32(id))
					}
				}
				if len(dst) != f.selected {
					b.Fatalf("%d selected, want %d", len(dst), f.selected)
				}
			}
			b.ReportMetric(float64(len(f.selectors)), "candidates/op")
		})
		b.Run(s.name+"/masks", func(b *testing.B) {
			b.ReportAllocs()
			m := newMasks(f.selectors)
			for b.Loop() {
				if dst = m.match(f.item, dst[:0]); len(dst) != f.selected {
					b.Fatalf("%d selected, want %d", len(dst), f.selected)
				}
			}
		})
	}
}

// BenchmarkMatchManyItems matches 10,000 different items in turn, so that each
// item finds little of its data in the cache.
func BenchmarkMatchManyItems(b *testing.B) {
	const n = 10_000
	f := sparse(n)
	x := f.index()
	items, selected := make([]shape, n), 0
	r := rand.New(rand.NewPCG(33, 34))
	for i := range items {
		items[i] = shape{selectors: f.selectors}
		for len(items[i].item) < 10 {
			items[i].item = SortTerms(append(items[i].item, Term(r.IntN(n))))
		}
	}
	for i := range 100 {
		items[i].count()
		selected += items[i].selected
	}
	dst := make([]uint32, 0, n)
	b.ReportAllocs()
	candidates := 0
	for i := 0; b.Loop(); i = (i + 1) % n {
		var c int
		dst, c = x.Match(items[i].item, dst[:0])
		if i < 100 && len(dst) != items[i].selected {
			b.Fatalf("%d selected, want %d", len(dst), items[i].selected)
		}
		candidates += c
	}
	b.ReportMetric(float64(candidates)/float64(b.N), "candidates/op")
	b.ReportMetric(float64(selected)/100, "selected/op")
}

// BenchmarkMatchScale shows how the time grows with the number of selectors.
func BenchmarkMatchScale(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		for _, s := range shapes[1:3] {
			b.Run(fmt.Sprintf("%s/n=%d", s.name, n), func(b *testing.B) {
				f := s.make(n)
				x := f.index()
				dst := make([]uint32, 0, n)
				candidates := 0
				for b.Loop() {
					if dst, candidates = x.Match(f.item, dst[:0]); len(dst) != f.selected {
						b.Fatalf("%d selected, want %d", len(dst), f.selected)
					}
				}
				b.ReportMetric(float64(candidates), "candidates/op")
			})
		}
	}
}

// masks is the baseline that ANDs bitmaps of selectors. For each position in the
// selectors' lists of terms, it ORs the selectors whose term at that position is a
// term of the item, and the selectors with fewer terms. Then it ANDs the
// positions.
type masks struct {
	all   *roaring.Bitmap
	place []map[Term]*roaring.Bitmap // by the position of a term in its selector
	none  []*roaring.Bitmap          // by position: the selectors with fewer terms
}

func newMasks(selectors [][]Term) *masks {
	m := &masks{all: roaring.New()}
	for id, terms := range selectors {
		m.all.Add(uint32(id))
		for len(m.place) < len(terms) {
			m.place = append(m.place, map[Term]*roaring.Bitmap{})
			m.none = append(m.none, roaring.New())
		}
		for i, t := range terms {
			if m.place[i][t] == nil {
				m.place[i][t] = roaring.New()
			}
			m.place[i][t].Add(uint32(id))
		}
	}
	for id, terms := range selectors {
		for i := len(terms); i < len(m.none); i++ {
			m.none[i].Add(uint32(id))
		}
	}
	return m
}

func (m *masks) match(item []Term, dst []uint32) []uint32 {
	found := m.all
	for i, byTerm := range m.place {
		allowed := m.none[i].Clone()
		for _, t := range item {
			if has := byTerm[t]; has != nil {
				allowed.Or(has)
			}
		}
		allowed.And(found)
		found = allowed
	}
	return Set{bits: found}.AppendTo(dst)
}

func TestMasks(t *testing.T) {
	for _, s := range shapes {
		f := s.make(1000)
		if got := len(newMasks(f.selectors).match(f.item, nil)); got != f.selected {
			t.Errorf("%s: the baseline selects %d, want %d", s.name, got, f.selected)
		}
	}
}

// BenchmarkReplaceSelector publishes a version with one selector changed, back
// and forth.
func BenchmarkReplaceSelector(b *testing.B) {
	for _, s := range shapes {
		for _, n := range []int{10_000, 100_000} {
			b.Run(fmt.Sprintf("%s/n=%d", s.name, n), func(b *testing.B) { replaceSelectors(b, s.make(n), 1) })
		}
	}
}

// BenchmarkReplaceSelectors publishes versions with 100 selectors changed.
func BenchmarkReplaceSelectors(b *testing.B) {
	for _, s := range shapes {
		b.Run(s.name, func(b *testing.B) { replaceSelectors(b, s.make(10_000), 100) })
	}
}

func replaceSelectors(b *testing.B, f shape, each int) {
	n := len(f.selectors)
	x := f.index()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		e := x.Edit()
		var id uint32
		var want []Term
		for k := range each {
			id = uint32(i/2*each+k) * 7919 % uint32(n)
			want = f.selectors[id]
			if i%2 == 0 {
				want = []Term{Term((i + k) % n), Term(n + 1)}
			}
			e.Put(id, want)
		}
		if x = e.Commit(); len(x.Terms(id)) == 0 && len(want) > 0 { // terms may be repeated in want
			b.Fatal(x.Terms(id))
		}
	}
}

// BenchmarkReplaceSelectorFloor copies the pages that BenchmarkReplaceSelector copies, stores the
// version, and does nothing else: what it costs that readers never wait.
func BenchmarkReplaceSelectorFloor(b *testing.B) {
	for _, s := range shapes {
		for _, n := range []int{10_000, 100_000} {
			b.Run(fmt.Sprintf("%s/n=%d", s.name, n), func(b *testing.B) { copySelectors(b, s.make(n), 1) })
		}
	}
}

// BenchmarkReplaceSelectorsFloor is BenchmarkReplaceSelectorFloor for BenchmarkReplaceSelectors.
func BenchmarkReplaceSelectorsFloor(b *testing.B) {
	for _, s := range shapes {
		b.Run(s.name, func(b *testing.B) { copySelectors(b, s.make(10_000), 100) })
	}
}

func copySelectors(b *testing.B, f shape, each int) {
	n := len(f.selectors)
	x := f.index()
	edits := make([]copiedPages, 512)
	for i := range edits {
		e := x.Edit()
		for k := range each {
			e.Put(uint32(i*each+k)*7919%uint32(n), []Term{Term((2*i + k) % n), Term(n + 1)})
		}
		edits[i] = pagesOf(x, e.Commit())
	}
	var published atomic.Pointer[TermIndex]
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		published.Store(edits[i%len(edits)].copy(x))
	}
	if published.Load().conjunctions.n != x.conjunctions.n {
		b.Fatal("a copy has other conjunctions")
	}
}

// copiedPages has one element of each page that two versions do not share.
type copiedPages struct{ selectors, conjunctions, byTerms, terms []uint32 }

func pagesOf(x, next *TermIndex) copiedPages {
	return copiedPages{
		unsharedPages(&x.selectors, &next.selectors), unsharedPages(&x.conjunctions.entries, &next.conjunctions.entries),
		unsharedPages(&x.byTerms.dir, &next.byTerms.dir), unsharedPages(&x.terms, &next.terms),
	}
}

func unsharedPages[T any](x, next *Vector[T]) (pages []uint32) {
	for i := range next.Unshared(x) {
		if i&leafMask == 0 {
			pages = append(pages, i)
		}
	}
	return pages
}

func (p copiedPages) copy(x *TermIndex) *TermIndex {
	next := *x
	next.selectors = copyPages(x.selectors, p.selectors)
	next.conjunctions.entries = copyPages(x.conjunctions.entries, p.conjunctions)
	next.byTerms.dir = copyPages(x.byTerms.dir, p.byTerms)
	next.terms = copyPages(x.terms, p.terms)
	return &next
}

func copyPages[T any](v Vector[T], pages []uint32) Vector[T] {
	e := v.Edit()
	for _, i := range pages {
		e.Mut(i)
	}
	return e.Commit()
}

// BenchmarkTermIndexLoad files all selectors in one transaction.
func BenchmarkTermIndexLoad(b *testing.B) {
	for _, s := range shapes {
		b.Run(s.name, func(b *testing.B) {
			f := s.make(10_000)
			b.ReportAllocs()
			var x *TermIndex
			for b.Loop() {
				if x = f.index(); x.Terms(uint32(len(f.selectors)-1)) == nil {
					b.Fatal("the last selector is missing")
				}
			}
			b.ReportMetric(retained(f.index)/float64(len(f.selectors)), "retained-B/selector")
		})
	}
}

// retained returns the bytes of heap that the result of build keeps.
func retained[T any](build func() T) float64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	kept := build()
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(kept)
	return float64(after.HeapAlloc) - float64(before.HeapAlloc)
}
