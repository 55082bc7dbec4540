package index

import (
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

// TestSetModel compares every operation with a map over random sequences. The
// three spreads of ids make sets that stay small, that cross the threshold in
// both directions, and that span several roaring containers.
func TestSetModel(t *testing.T) {
	for name, spread := range map[string]struct{ universe, stride uint32 }{
		"stays small":           {40, 1},
		"crosses the threshold": {2 * smallSet, 1},
		"bitmap":                {2_000, 1},
		"several containers":    {300, 20_000},
	} {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			pick := func() uint32 { return r.Uint32N(spread.universe) * spread.stride }
			type version struct {
				set  Set
				want map[uint32]struct{}
			}
			versions := []version{{Set{}, map[uint32]struct{}{}}}
			for range 300 {
				from := versions[r.IntN(len(versions))]
				e, want := from.set.Edit(), maps.Clone(from.want)
				bias := r.IntN(10) // between mostly adding and mostly removing
				for range 1 + r.IntN(100) {
					id := pick()
					_, had := want[id]
					if r.IntN(10) >= bias {
						want[id] = struct{}{}
						if e.Add(id) == had {
							t.Fatalf("Add(%d) = %v, had it: %v", id, !had, had)
						}
					} else {
						delete(want, id)
						if e.Remove(id) != had {
							t.Fatalf("Remove(%d), had it: %v", id, had)
						}
					}
				}
				if e.Len() != len(want) {
					t.Fatalf("editor: %d ids, want %d", e.Len(), len(want))
				}
				s := e.Commit()
				checkSet(t, s, want)
				checkSet(t, from.set, from.want) // the source must not have moved

				other := versions[r.IntN(len(versions))]
				checkSet(t, s.And(other.set), filter(want, func(id uint32) bool { return has(other.want, id) }))
				checkSet(t, s.AndNot(other.set), filter(want, func(id uint32) bool { return !has(other.want, id) }))
				union := maps.Clone(want)
				maps.Copy(union, other.want)
				checkSet(t, s.Or(other.set), union)
				if got := s.Equal(other.set); got != maps.Equal(want, other.want) {
					t.Fatalf("Equal = %v", got)
				}
				for range 20 {
					if id := pick(); s.Contains(id) != has(want, id) {
						t.Fatalf("Contains(%d) = %v", id, !has(want, id))
					}
				}
				versions = append(versions, version{s, want})
			}
			for _, v := range versions {
				checkSet(t, v.set, v.want)
			}
		})
	}
}

func has(m map[uint32]struct{}, id uint32) bool {
	_, ok := m[id]
	return ok
}

func filter(m map[uint32]struct{}, keep func(uint32) bool) map[uint32]struct{} {
	kept := map[uint32]struct{}{}
	for id := range m {
		if keep(id) {
			kept[id] = struct{}{}
		}
	}
	return kept
}

func checkSet(t *testing.T, s Set, want map[uint32]struct{}) {
	t.Helper()
	ids := slices.Sorted(maps.Keys(want))
	if got := slices.Collect(s.All()); !slices.Equal(got, ids) {
		t.Fatalf("All = %v, want %v", got, ids)
	}
	const before = 99
	if got := s.AppendTo([]uint32{before}); got[0] != before || !slices.Equal(got[1:], ids) {
		t.Fatalf("AppendTo = %v, want %v", got, ids)
	}
	if s.Len() != len(ids) {
		t.Fatalf("Len = %d, want %d", s.Len(), len(ids))
	}
	if small := s.bits == nil; small != (len(ids) <= smallSet) {
		t.Fatalf("%d ids: kept as a slice: %v", len(ids), small)
	}
	if !s.Equal(SetOf(ids...)) {
		t.Fatalf("not equal to the set of its own ids")
	}
}

func TestSetOf(t *testing.T) {
	for _, c := range []struct {
		name string
		ids  []uint32
		want []uint32
	}{
		{"nothing", nil, nil},
		{"unsorted", []uint32{7, 1, 3}, []uint32{1, 3, 7}},
		{"duplicates", []uint32{2, 2, 1, 2}, []uint32{1, 2}},
		{"duplicates only make it look large", slices.Repeat([]uint32{5, 4}, smallSet), []uint32{4, 5}},
		{"far apart", []uint32{1 << 31, 0, 1 << 16}, []uint32{0, 1 << 16, 1 << 31}},
	} {
		t.Run(c.name, func(t *testing.T) {
			given := slices.Clone(c.ids)
			s := SetOf(given...)
			clear(given) // the set must not have kept the slice
			if got := slices.Collect(s.All()); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestSetAllStops(t *testing.T) {
	for name, n := range map[string]uint32{"slice": smallSet, "bitmap": smallSet + 1} {
		t.Run(name, func(t *testing.T) {
			s, seen := SetOf(upTo(n)...), 0
			for id := range s.All() {
				if seen++; id == 3 {
					break
				}
			}
			if seen != 4 {
				t.Errorf("saw %d ids before the break, want 4", seen)
			}
		})
	}
}

func TestSetEditorGoesOn(t *testing.T) {
	for name, n := range map[string]uint32{"slice": smallSet / 2, "bitmap": 2 * smallSet} {
		t.Run(name, func(t *testing.T) {
			e := SetOf(upTo(n)...).Edit()
			e.Remove(0)
			first := e.Commit()
			e.Remove(1)
			e.Add(n)
			second := e.Commit()
			if first.Contains(0) || !first.Contains(1) || first.Contains(n) {
				t.Error("a change after Commit reached what was published")
			}
			if second.Contains(0) || second.Contains(1) || !second.Contains(n) {
				t.Error("the second version lacks a change")
			}
		})
	}
}

func upTo(n uint32) []uint32 {
	ids := make([]uint32, n)
	for i := range ids {
		ids[i] = uint32(i)
	}
	return ids
}

// TestSetReadersDuringEdits is for the race detector: readers use the current
// version and all that it was combined from while new versions are made.
func TestSetReadersDuringEdits(t *testing.T) {
	var current atomic.Pointer[Set]
	full, odd := SetOf(upTo(3_000)...), SetOf()
	for id := uint32(1); id < 3_000; id += 2 {
		e := odd.Edit()
		e.Add(id)
		odd = e.Commit()
	}
	current.Store(&full)
	var done atomic.Bool
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			var dst []uint32
			for !done.Load() {
				s := *current.Load()
				dst = s.AppendTo(dst[:0])
				if len(dst) != s.Len() || !slices.IsSorted(dst) {
					t.Error("a published set changed under its reader")
					return
				}
				if n := s.And(odd).Len() + s.AndNot(odd).Len(); n != s.Len() {
					t.Errorf("the two parts have %d ids, the set %d", n, s.Len())
					return
				}
			}
		})
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		e := current.Load().Edit()
		for range 20 {
			e.Add(r.Uint32N(3_000))
			e.Remove(r.Uint32N(3_000))
		}
		s := e.Commit().Or(SetOf(r.Uint32N(3_000)))
		current.Store(&s)
	}
	done.Store(true)
	readers.Wait()
}

func TestSetReadsAllocateNothing(t *testing.T) {
	for name, n := range map[string]uint32{"slice": smallSet, "bitmap": 100_000} {
		t.Run(name, func(t *testing.T) {
			s, dst := SetOf(upTo(n)...), make([]uint32, 0, n)
			if got := testing.AllocsPerRun(10, func() {
				dst = s.AppendTo(dst[:0])
				if !s.Contains(n-1) || s.Contains(n) || s.Len() != len(dst) {
					t.Error("wrong answer")
				}
			}); got != 0 {
				t.Errorf("%v allocations", got)
			}
		})
	}
}

func TestSetBytes(t *testing.T) {
	even := SetOf(upTo(40_000)...).AndNot(SetOf())
	for id := uint32(1); id < 40_000; id += 2 {
		even = even.AndNot(SetOf(id))
	}
	for _, c := range []struct {
		name        string
		set         Set
		least, most int
	}{
		{"empty", Set{}, 0, 0},
		{"slice: 4 bytes an id", SetOf(upTo(smallSet)...), 4 * smallSet, 4 * smallSet},
		{"bitmap: 8 KB for 65,536 numbers", even, 8 << 10, 8<<10 + 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.set.Bytes(); got < c.least || got > c.most {
				t.Errorf("Bytes = %d, want %d to %d", got, c.least, c.most)
			}
		})
	}
}

func TestSetEditorAppendTo(t *testing.T) {
	var e SetEditor
	var want []uint32
	for id := range uint32(3 * smallSet) { // through both shapes and back
		e.Add(id)
		want = append(want, id)
		if got := e.AppendTo(nil); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
	for len(want) > 0 {
		e.Remove(want[0])
		want = want[1:]
		if got := e.AppendTo(nil); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
}
