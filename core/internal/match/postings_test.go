package match

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestPostings(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	h, want := NewPostings[uint64](), map[uint64]map[uint32]bool{}
	for range 20_000 {
		key, id := r.Uint64N(8), r.Uint32N(4)
		if key == 0 {
			id = r.Uint32N(200) // so that some sets are not small
		}
		if r.IntN(2) == 0 {
			h.Add(key, id)
			if want[key] == nil {
				want[key] = map[uint32]bool{}
			}
			want[key][id] = true
		} else {
			h.Remove(key, id)
			if delete(want[key], id); len(want[key]) == 0 {
				delete(want, key)
			}
		}
		if h.Count(key) != len(want[key]) {
			t.Fatalf("%d postings of %d, want %d", h.Count(key), key, len(want[key]))
		}
		if got := h.AppendTo(key, []uint32{7}); got[0] != 7 || !slices.Equal(got[1:], slices.Sorted(maps.Keys(want[key]))) {
			t.Fatalf("postings of %d: %v, want %v", key, got[1:], want[key])
		}
		if h.Len() != len(want) {
			t.Fatalf("%d keys, want %d", h.Len(), len(want))
		}
		kept, before := h.Set(key), slices.Sorted(maps.Keys(want[key]))
		if got := kept.AppendTo(nil); !slices.Equal(got, before) {
			t.Fatalf("the set of %d: %v, want %v", key, got, before)
		}
		h.Add(key, 201) // a set that was returned does not change
		h.Remove(key, 201)
		for _, id := range before {
			h.Remove(key, id)
			h.Add(key, id)
		}
		if got := kept.AppendTo(nil); !slices.Equal(got, before) {
			t.Fatalf("a set became %v, want %v", got, before)
		}
	}
}
