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

// scan returns the result by definition: the ids of the selectors whose terms
// the item has, ascending.
func scan(selectors map[uint32][]Term, item []Term) []uint32 {
	var ids []uint32
	for id, terms := range selectors {
		if !slices.ContainsFunc(terms, func(t Term) bool { return !slices.Contains(item, t) }) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

func randomTerms(r *rand.Rand, most int, universe uint32) []Term {
	terms := make([]Term, r.IntN(most+1))
	for i := range terms {
		terms[i] = Term(r.Uint32N(universe)) // duplicates happen
	}
	return terms
}

func TestTermIndexModel(t *testing.T) {
	for name, universe := range map[string]uint32{"few terms": 6, "many terms": 300} {
		t.Run(name, func(t *testing.T) {
			type version struct {
				x    *TermIndex
				want map[uint32][]Term
			}
			r := rand.New(rand.NewPCG(11, 12))
			check := func(v version) {
				t.Helper()
				for range 10 {
					item := SortTerms(randomTerms(r, 20, universe+5)) // some terms are in no selector
					got, _ := v.x.Match(item, nil)
					slices.Sort(got)
					if want := scan(v.want, item); !slices.Equal(got, want) {
						t.Fatalf("Match(%v) = %v, want %v", item, got, want)
					}
				}
				checkTermIndex(t, v.x, v.want)
			}
			versions := []version{{new(TermIndex), map[uint32][]Term{}}}
			for range 200 {
				from := versions[r.IntN(len(versions))]
				e, want := from.x.Edit(), maps.Clone(from.want)
				bias := r.IntN(10)
				for range r.IntN(40) {
					id := r.Uint32N(200)
					if r.IntN(10) >= bias {
						terms := randomTerms(r, 4, universe)
						want[id] = slices.Clone(terms)
						e.Put(id, terms)
						clear(terms) // Put must not have kept it
					} else {
						_, had := want[id]
						delete(want, id)
						if e.Remove(id) != had {
							t.Fatalf("Remove(%d), had it: %v", id, had)
						}
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

// checkTermIndex checks the invariants between the parts of an index.
func checkTermIndex(t *testing.T, x *TermIndex, want map[uint32][]Term) {
	t.Helper()
	distinct, required, filed := map[string]bool{}, map[Term]uint32{}, 0
	for id, terms := range want {
		terms = SortTerms(slices.Clone(terms))
		if x.selectors.Value(id) == 0 || !slices.Equal(x.Terms(id), terms) {
			t.Fatalf("Terms(%d) = %v, want %v", id, x.Terms(id), terms)
		}
		if key := fmt.Sprint(terms); !distinct[key] {
			distinct[key] = true
			for _, term := range terms {
				required[term]++
			}
			if len(terms) > 0 {
				filed++
			}
		}
	}
	if x.conjunctions.n != len(distinct) {
		t.Fatalf("%d conjunctions, want %d", x.conjunctions.n, len(distinct))
	}
	for term := range Term(400) {
		p := x.terms.Value(uint32(term))
		if p.required != required[term] {
			t.Fatalf("term %d is required %d times, want %d", term, p.required, required[term])
		}
		for _, c := range p.filed {
			filed--
			if c.filed != term || x.conjunctions.get(c.number).value != c.conjunction || c.signature != signature(c.terms) || c.ids.Len() == 0 {
				t.Fatalf("conjunction %d differs from the one filed under %d", c.number, term)
			}
		}
	}
	if filed != 0 {
		t.Fatalf("%d conjunctions are not filed once", filed)
	}
}

func TestTermIndexMatch(t *testing.T) {
	for _, c := range []struct {
		name       string
		selectors  [][]Term // by id
		item       []Term
		want       []uint32
		candidates int
	}{
		{"no selectors", nil, []Term{1}, nil, 0},
		{"no terms required", [][]Term{{}, {}}, nil, []uint32{0, 1}, 1},
		{"duplicates are dropped", [][]Term{{3, 3}, {3}}, []Term{3}, []uint32{0, 1}, 1},
		{"one of two terms", [][]Term{{1, 2}}, []Term{1}, nil, 1},
		{"both terms", [][]Term{{2, 1}}, []Term{1, 2}, []uint32{0}, 1},
		{"unknown terms", [][]Term{{1}}, []Term{0, 1, 9, 1 << 31}, []uint32{0}, 1},
		{"shared term, filed under the other", [][]Term{{1, 2}, {1, 3}, {1, 4}}, []Term{1, 3}, []uint32{1}, 1},
		{"a shared term alone is one conjunction", [][]Term{{1}, {1}, {1, 5}}, []Term{1}, []uint32{0, 1}, 1},
		{"more terms than are scanned", [][]Term{{5, 40}, {5, 41}}, evenTerms(100), nil, 1},
		{"found among more terms than are scanned", [][]Term{{6, 40}, {6, 41}}, evenTerms(100), []uint32{0}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := new(TermIndex).Edit()
			for id, terms := range c.selectors {
				e.Put(uint32(id), terms)
			}
			got, candidates := e.Commit().Match(c.item, nil)
			slices.Sort(got)
			if !slices.Equal(got, c.want) || candidates != c.candidates {
				t.Errorf("got %v from %d candidates, want %v from %d", got, candidates, c.want, c.candidates)
			}
		})
	}
}

func evenTerms(limit Term) (terms []Term) {
	for t := Term(0); t < limit; t += 2 {
		terms = append(terms, t)
	}
	return terms
}

// TestTermIndexFilingFollows makes rare terms common and common ones rare after
// selectors have been filed, in one commit or in many.
func TestTermIndexFilingFollows(t *testing.T) {
	const n = 60
	const shared = Term(0)
	own := func(i uint32) Term { return Term(1 + i) }
	for name, perCommit := range map[string]int{"in one commit": 1 << 30, "one by one": 1, "seven at a time": 7} {
		t.Run(name, func(t *testing.T) {
			// Selector i < n requires shared, which n selectors require, and a
			// separate term, which 2n selectors require.
			e := new(TermIndex).Edit()
			for i := range uint32(n) {
				e.Put(i, []Term{shared, own(i)})
				for k := range uint32(2 * n) {
					e.Put(n+2*n*i+k, []Term{own(i), Term(1000 + 2*n*i + k)})
				}
			}
			x := e.Commit()
			item := []Term{shared, own(3)}
			if got, candidates := x.Match(item, nil); !slices.Equal(got, []uint32{3}) || candidates != n {
				t.Fatalf("before: %v from %d candidates, want [3] from %d", got, candidates, n)
			}
			// Now own terms become rare and shared common.
			changes := 0
			step := func() {
				if changes++; changes%perCommit == 0 {
					x = e.Commit()
				}
			}
			for i := range uint32(2 * n * n) {
				e.Remove(n + i)
				step()
			}
			for i := range uint32(10 * n) {
				e.Put(n+i, []Term{shared, Term(1000 + i)})
				step()
			}
			x = e.Commit()
			if got, candidates := x.Match(item, nil); !slices.Equal(got, []uint32{3}) || candidates != 1 {
				t.Errorf("after: %v from %d candidates, want [3] from 1", got, candidates)
			}
		})
	}
}

// TestTermIndexSweep changes the population at random, and then makes as many
// changes as there are conjunctions. After that, no conjunction is filed under a
// term twice as common as its rarest one.
func TestTermIndexSweep(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	e := new(TermIndex).Edit()
	for round := range 20 {
		for range 500 {
			e.Put(r.Uint32N(1000), randomTerms(r, 3, 10+20*uint32(round%5)))
		}
		e.Commit()
	}
	x := e.Commit()
	for i := range uint32(x.conjunctions.n/sweepPerChange + 1) {
		e.Put(5000+i, []Term{1_000_000 + Term(i)}) // changes no count of the others
		x = e.Commit()
	}
	for id := range uint32(1000) {
		ref := x.selectors.Value(id)
		if ref == 0 {
			continue
		}
		c := x.conjunctions.get(ref - 1).value
		for _, term := range c.terms {
			if filed, other := x.terms.Value(uint32(c.filed)).required, x.terms.Value(uint32(term)).required; filed >= 2*other {
				t.Fatalf("selector %d is filed under a term that %d require, and has one that %d require", id, filed, other)
			}
		}
	}
}

// TestTermIndexReplaceAllocates limits the cost of replacing one of 10,000
// selectors: the new version shares nearly all pages with the previous one.
func TestTermIndexReplaceAllocates(t *testing.T) {
	x := fleet(10_000).index()
	i := uint32(0)
	allocs := testing.AllocsPerRun(200, func() {
		e := x.Edit()
		e.Put(4, []Term{Term(1_000_000 + i%2)})
		x = e.Commit()
		i++
	})
	if allocs > 60 {
		t.Errorf("%v allocations to replace one of 10,000 selectors", allocs)
	}
}

// TestShapes checks the properties of the shapes that the benchmarks rely on.
func TestShapes(t *testing.T) {
	for _, c := range []struct {
		name                             string
		shape                            shape
		selected, conjunctions, mostWork int
	}{
		{"fleet", fleet(10_000), 1090, 651, 5},
		{"sparse", sparse(10_000), 7, 10_000, 20},
		{"shared label", sharedLabel(10_000), 7, 10_000, 20},
		{"identical", identical(10_000), 10_000, 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := c.shape.index()
			ids, candidates := x.Match(c.shape.item, nil)
			if len(ids) != c.selected || c.shape.selected != c.selected {
				t.Errorf("%d selected, %d by a scan, want %d", len(ids), c.shape.selected, c.selected)
			}
			if x.conjunctions.n > c.conjunctions || candidates > c.mostWork {
				t.Errorf("%d conjunctions and %d candidates, want at most %d and %d", x.conjunctions.n, candidates, c.conjunctions, c.mostWork)
			}
		})
	}
}

func TestTermIndexPutSameTerms(t *testing.T) {
	e := new(TermIndex).Edit()
	e.Put(3, []Term{1, 2})
	before := e.Commit()
	e.Put(3, []Term{2, 1, 1})
	after := e.Commit()
	if before.terms.Get(1) != after.terms.Get(1) || before.conjunctions.get(0) != after.conjunctions.get(0) {
		t.Error("putting the same terms again copied pages")
	}
}

func TestTermIndexMatchAllocatesNothing(t *testing.T) {
	f := fleet(10_000)
	x := f.index()
	dst := make([]uint32, 0, 10_000)
	if got := testing.AllocsPerRun(100, func() {
		if dst, _ = x.Match(f.item, dst[:0]); len(dst) != f.selected {
			t.Errorf("%d selected, want %d", len(dst), f.selected)
		}
	}); got != 0 {
		t.Errorf("%v allocations", got)
	}
}

// TestTermIndexIsDeterministic: the same edits give the same order of results,
// independent of hash seeds.
func TestTermIndexIsDeterministic(t *testing.T) {
	build := func() (x *TermIndex) {
		r := rand.New(rand.NewPCG(13, 14))
		x = new(TermIndex)
		for range 50 {
			e := x.Edit()
			for range 40 {
				if id := r.Uint32N(300); r.IntN(3) > 0 {
					e.Put(id, randomTerms(r, 3, 12))
				} else {
					e.Remove(id)
				}
			}
			x = e.Commit()
		}
		return x
	}
	a, b := build(), build()
	item := []Term{0, 1, 2, 3, 4, 5, 6, 7}
	ids, candidates := a.Match(item, nil)
	if again, c := b.Match(item, nil); !slices.Equal(ids, again) || candidates != c {
		t.Errorf("%v from %d, and the same edits again: %v from %d", ids, candidates, again, c)
	}
}

// TestTermIndexReadersDuringEdits is for the race detector. Selector i of a
// version requires one of two terms. A reader has both terms and must always
// find each selector once.
func TestTermIndexReadersDuringEdits(t *testing.T) {
	const n = 300
	e := new(TermIndex).Edit()
	for i := range uint32(n) {
		e.Put(i, []Term{1})
	}
	var current atomic.Pointer[TermIndex]
	current.Store(e.Commit())
	var done atomic.Bool
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			var dst []uint32
			for !done.Load() {
				dst, _ = current.Load().Match([]Term{1, 2}, dst[:0])
				slices.Sort(dst)
				if !slices.Equal(dst, upTo(n)) {
					t.Errorf("a version has %d selectors, want %d", len(dst), n)
					return
				}
			}
		})
	}
	r := rand.New(rand.NewPCG(15, 16))
	for range 500 {
		e.Put(r.Uint32N(n), []Term{1 + Term(r.Uint32N(2))})
		current.Store(e.Commit())
	}
	done.Store(true)
	readers.Wait()
}

// TestTermIndexAlwaysLeaves: the conjunction without terms is added and dropped
// like any other.
func TestTermIndexAlwaysLeaves(t *testing.T) {
	for name, leave := range map[string]func(e *TermIndexEditor){
		"removed":              func(e *TermIndexEditor) { e.Remove(1) },
		"requires a term now":  func(e *TermIndexEditor) { e.Put(1, []Term{5}) },
		"removed and put back": func(e *TermIndexEditor) { e.Remove(1); e.Put(1, nil); e.Remove(1) },
	} {
		t.Run(name, func(t *testing.T) {
			e := new(TermIndex).Edit()
			e.Put(1, nil)
			before := e.Commit()
			leave(e)
			after := e.Commit()
			if got, _ := before.Match(nil, nil); !slices.Equal(got, []uint32{1}) {
				t.Errorf("before: %v", got)
			}
			if got, candidates := after.Match(nil, nil); len(got) != 0 || candidates != 0 {
				t.Errorf("after: %v of %d candidates", got, candidates)
			}
		})
	}
}

// TestTermIndexSpreadsTies: if all terms are equally common, conjunctions are
// spread over them. There is a selector for each pair of k terms.
func TestTermIndexSpreadsTies(t *testing.T) {
	const k = 41
	e := new(TermIndex).Edit()
	id := uint32(0)
	for a := range Term(k) {
		for b := range a {
			e.Put(id, []Term{a, b})
			id++
		}
	}
	x := e.Commit()
	for term := range uint32(k) {
		if n := len(x.terms.Value(term).filed); n > k*7/8 {
			t.Errorf("%d of %d selectors are filed under term %d of %d", n, id, term, k)
		}
	}
}

func TestHashTermsSpreads(t *testing.T) {
	const n = 200
	seen := map[uint32]int{}
	for a := range Term(n) {
		for b := range a {
			seen[hashTerms([]Term{b, a})]++
		}
		seen[hashTerms([]Term{a})]++
	}
	if total := n*(n-1)/2 + n; len(seen) < total-5 { // of 20,000 in 2^32, 0.05 pairs collide by chance
		t.Errorf("%d lists of terms have %d hashes", total, len(seen))
	}
}
