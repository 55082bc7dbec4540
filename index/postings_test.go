package index

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

// having is the answer by definition: the ids that have all the terms,
// ascending.
func having(items map[uint32][]Term, terms []Term) []uint32 {
	var ids []uint32
	for id, its := range items {
		if !slices.ContainsFunc(terms, func(t Term) bool { return !slices.Contains(its, t) }) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

func TestPostingsModel(t *testing.T) {
	for name, c := range map[string]struct{ ids, terms uint32 }{
		"small sets": {60, 20},
		"bitmaps":    {1_500, 6},
		"both":       {600, 30},
	} {
		t.Run(name, func(t *testing.T) {
			type version struct {
				p    *Postings
				want map[uint32][]Term
			}
			r := rand.New(rand.NewPCG(23, 24))
			check := func(v version) {
				t.Helper()
				if all := slices.Collect(v.p.All().All()); !slices.Equal(all, having(v.want, nil)) {
					t.Fatalf("All = %v", all)
				}
				for range 10 {
					terms := randomTerms(r, 3, c.terms+1) // also a term that no id has
					want := having(v.want, terms)
					if got := v.p.Intersect(terms, []uint32{7}); got[0] != 7 || !slices.Equal(got[1:], want) {
						t.Fatalf("Intersect(%v) = %v, want %v", terms, got, want)
					}
					if got := v.p.Intersection(terms); !got.Equal(SetOf(want...)) {
						t.Fatalf("Intersection(%v) = %v, want %v", terms, slices.Collect(got.All()), want)
					}
				}
			}
			versions := []version{{new(Postings), map[uint32][]Term{}}}
			for range 60 {
				from := versions[r.IntN(len(versions))]
				e, want := from.p.Edit(), maps.Clone(from.want)
				bias := r.IntN(8)
				for range r.IntN(int(c.ids)) {
					id := r.Uint32N(c.ids)
					old, had := want[id]
					terms := randomTerms(r, 5, c.terms)
					switch {
					case had && r.IntN(8) < bias:
						e.Remove(id, old)
						delete(want, id)
					case had:
						e.Replace(id, old, terms)
						want[id] = terms
					default:
						e.Add(id, terms)
						want[id] = terms
					}
				}
				v := version{e.Commit(), want}
				check(v)
				versions = append(versions, v)
			}
			for _, v := range versions {
				check(v)
			}
		})
	}
}

func TestPostingsIntersection(t *testing.T) {
	e := new(Postings).Edit()
	for id := range uint32(1000) {
		terms := []Term{Term(10 + id%2), Term(20 + id%500)}
		e.Add(id, terms)
	}
	e.Add(5000, nil)
	p := e.Commit()
	for _, c := range []struct {
		name  string
		terms []Term
		want  []uint32
	}{
		{"rare and common", []Term{10, 22}, []uint32{2, 502}},
		{"common and rare", []Term{22, 10}, []uint32{2, 502}},
		{"the same term twice", []Term{22, 22}, []uint32{2, 502}},
		{"nothing in common", []Term{10, 23}, nil},
		{"two bitmaps that are disjoint", []Term{10, 11}, nil},
		{"a term that nothing has", []Term{10, 99_999}, nil},
		{"only a term that nothing has", []Term{99_999}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := p.Intersect(c.terms, nil); !slices.Equal(got, c.want) {
				t.Errorf("Intersect = %v, want %v", got, c.want)
			}
			if got := slices.Collect(p.Intersection(c.terms).All()); !slices.Equal(got, c.want) {
				t.Errorf("Intersection = %v, want %v", got, c.want)
			}
		})
	}
	if got := p.Intersection(nil).Len(); got != 1001 {
		t.Errorf("without terms: %d ids, want 1001", got)
	}
}

func TestPostingsIntersectAllocatesNothing(t *testing.T) {
	p := dataplanes(10_000).postings()
	terms, dst := dataplaneSelector(7), make([]uint32, 0, 100)
	if got := testing.AllocsPerRun(100, func() {
		if dst = p.Intersect(terms, dst[:0]); len(dst) == 0 {
			t.Error("nothing selected")
		}
	}); got != 0 {
		t.Errorf("%v allocations", got)
	}
}

// TestPostingsReadersDuringEdits is for the race detector: an id moves between
// two terms, and a reader sees all ids under either.
func TestPostingsReadersDuringEdits(t *testing.T) {
	const n = 500
	e := new(Postings).Edit()
	for id := range uint32(n) {
		e.Add(id, []Term{1, 9})
	}
	var current atomic.Pointer[Postings]
	current.Store(e.Commit())
	var done atomic.Bool
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for !done.Load() {
				p := current.Load()
				if got := p.Intersection([]Term{1, 9}).Or(p.Intersection([]Term{2, 9})); !got.Equal(p.All()) || got.Len() != n {
					t.Errorf("a version has %d ids, want %d", got.Len(), n)
					return
				}
			}
		})
	}
	r := rand.New(rand.NewPCG(25, 26))
	in := make([]Term, n)
	for range 500 {
		id := r.Uint32N(n)
		old := 1 + in[id]
		in[id] = 1 - in[id]
		e.Replace(id, []Term{old, 9}, []Term{1 + in[id], 9})
		current.Store(e.Commit())
	}
	done.Store(true)
	readers.Wait()
}

// dataplanes are items by id, of six terms each.
type dataplanes int

// terms gives dataplane i two services, which ten dataplanes have, and four
// tags that more have: all, a third, a team of 50, a group of 1,000.
func (n dataplanes) terms(i int) []Term {
	group := Term(i / 10)
	return []Term{0, 1 + Term(i%3), 10 + Term(i%50), 100 + Term(i%1000), 10_000 + 2*group, 10_001 + 2*group}
}

// dataplaneSelector selects those of dataplane i's service that are in its team.
func dataplaneSelector(i int) []Term {
	all := dataplanes(0).terms(i)
	return []Term{all[0], all[2], all[4]}
}

func (n dataplanes) postings() *Postings {
	e := new(Postings).Edit()
	for i := range int(n) {
		e.Add(uint32(i), n.terms(i))
	}
	return e.Commit()
}

func BenchmarkPostingsIntersect(b *testing.B) {
	const n = dataplanes(100_000)
	p := n.postings()
	its := n.terms(7)
	for _, c := range []struct {
		name     string
		terms    []Term
		selected int
	}{
		{"a service", its[4:5], 10},
		{"a service, zone, all", []Term{its[0], its[1], its[4]}, 3},
		{"a team of 2,000", its[2:3], 2_000},
		{"a team of 2,000 in a zone of 33,333", []Term{its[1], its[2]}, 667},
		{"everything", nil, 100_000},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			dst := make([]uint32, 0, n)
			for b.Loop() {
				if dst = p.Intersect(c.terms, dst[:0]); len(dst) != c.selected {
					b.Fatalf("%d selected, want %d", len(dst), c.selected)
				}
			}
			b.ReportMetric(float64(c.selected), "selected/op")
		})
	}
}

// BenchmarkPostingsChange publishes a version with one id changed, of 10,000
// and 100,000.
func BenchmarkPostingsChange(b *testing.B) {
	for _, n := range []dataplanes{10_000, 100_000} {
		p := n.postings()
		b.Run(fmt.Sprintf("relabel/n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			old := n.terms(7)
			next := slices.Clone(old)
			next[2] = 99 // another team
			q := p
			for i := 0; b.Loop(); i++ {
				e := q.Edit()
				if i%2 == 0 {
					e.Replace(7, old, next)
				} else {
					e.Replace(7, next, old)
				}
				if q = e.Commit(); q.Set(99).Contains(7) != (i%2 == 0) {
					b.Fatal("not relabelled")
				}
			}
		})
		b.Run(fmt.Sprintf("leave and join/n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			q := p
			for i := 0; b.Loop(); i++ {
				e := q.Edit()
				if i%2 == 0 {
					e.Remove(7, n.terms(7))
				} else {
					e.Add(7, n.terms(7))
				}
				if q = e.Commit(); q.All().Contains(7) != (i%2 == 1) {
					b.Fatal("neither left nor joined")
				}
			}
		})
		b.Run(fmt.Sprintf("load/n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if got := n.postings().All().Len(); got != int(n) {
					b.Fatal(got)
				}
			}
			b.ReportMetric(retained(n.postings)/float64(n), "retained-B/id")
		})
	}
}
