package match

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestPostings(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	h, want := newPostings(), map[uint64]map[uint32]bool{}
	for range 20_000 {
		key, id := r.Uint64N(8), r.Uint32N(4)
		if key == 0 {
			id = r.Uint32N(200) // so that some sets are not small
		}
		if r.IntN(2) == 0 {
			h.add(key, id)
			if want[key] == nil {
				want[key] = map[uint32]bool{}
			}
			want[key][id] = true
		} else {
			h.remove(key, id)
			if delete(want[key], id); len(want[key]) == 0 {
				delete(want, key)
			}
		}
		if h.count(key) != len(want[key]) {
			t.Fatalf("%d postings of %d, want %d", h.count(key), key, len(want[key]))
		}
		if got := h.appendTo(key, []uint32{7}); got[0] != 7 || !slices.Equal(got[1:], slices.Sorted(maps.Keys(want[key]))) {
			t.Fatalf("postings of %d: %v, want %v", key, got[1:], want[key])
		}
		if len(h.byKey) != len(want) {
			t.Fatalf("%d keys, want %d", len(h.byKey), len(want))
		}
	}
}
