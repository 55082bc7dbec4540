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
// three ranges of ids make sets that stay small, sets that cross the threshold
// in both directions, and sets that span several roaring containers.
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
				checkSet(t, from.set, from.want) // the source must not have changed

				other := versions[r.IntN(len(versions))]
				checkSet(t, s.AndNot(other.set), filter(want, func(id uint32) bool { return !has(other.want, id) }))
				less := s.Edit()
				less.RemoveAll(other.set)
				checkSet(t, less.Commit(), filter(want, func(id uint32) bool { return !has(other.want, id) }))
				checkSet(t, s.And(other.set), filter(want, func(id uint32) bool { return has(other.want, id) }))
				union := maps.Clone(want)
				maps.Copy(union, other.want)
				checkSet(t, s.Or(other.set), union)
				if got := s.Equal(other.set); got != maps.Equal(want, other.want) {
					t.Fatalf("Equal = %v", got)
				}
				if !s.Equal(setOf(s.AppendTo(nil)...)) {
					t.Fatal("a set is not equal to its copy")
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

func setOf(ids ...uint32) Set {
	var e SetEditor
	for _, id := range ids {
		e.Add(id)
	}
	return e.Commit()
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
}

func TestSetAllStops(t *testing.T) {
	for name, n := range map[string]uint32{"slice": smallSet, "bitmap": smallSet + 1} {
		t.Run(name, func(t *testing.T) {
			s, seen := setOf(upTo(n)...), 0
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
			e := setOf(upTo(n)...).Edit()
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

// TestSetChangesShape adds one id to sets of every size near the threshold and
// removes one, each in a separate version.
func TestSetChangesShape(t *testing.T) {
	for n := uint32(smallSet - 2); n <= smallSet+2; n++ {
		s := setOf(upTo(n)...)
		want := map[uint32]struct{}{}
		for id := range n {
			want[id] = struct{}{}
		}
		e := s.Edit()
		e.Add(1000)
		more := e.Commit()
		e.Remove(1000)
		again := e.Commit()
		e = s.Edit()
		e.Remove(0)
		fewer := e.Commit()
		checkSet(t, s, want)
		checkSet(t, again, want)
		want[1000] = struct{}{}
		checkSet(t, more, want)
		delete(want, 1000)
		delete(want, 0)
		checkSet(t, fewer, want)
		checkSet(t, s.AndNot(setOf(0)), want)
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
// version and earlier ones while new versions are made.
func TestSetReadersDuringEdits(t *testing.T) {
	var current atomic.Pointer[Set]
	full, odd := setOf(upTo(3_000)...), setOf()
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
				if even := s.AndNot(odd); even.Len() > s.Len() || even.Contains(1) {
					t.Errorf("%d of %d ids are even", even.Len(), s.Len())
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
		s := e.Commit()
		current.Store(&s)
	}
	done.Store(true)
	readers.Wait()
}

func TestSetReadsAllocateNothing(t *testing.T) {
	for name, n := range map[string]uint32{"slice": smallSet, "bitmap": 100_000} {
		t.Run(name, func(t *testing.T) {
			s, dst := setOf(upTo(n)...), make([]uint32, 0, n)
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
