package index

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

// names compares slots by name; a slot is the index of its name.
type names []string

func (n names) compare(a, b uint32) int { return cmp.Compare(n[a], n[b]) }

func randomName(r *rand.Rand) string {
	name := make([]byte, 8)
	for i := range name {
		name[i] = 'a' + byte(r.IntN(26))
	}
	return string(name)
}

// newOrder orders slots in one edit.
func newOrder(slots []uint32, compare func(a, b uint32) int) (*Order, error) {
	e := new(Order).Edit(compare)
	for _, slot := range slots {
		e.Put(slot)
	}
	return e.Commit()
}

func TestOrderModel(t *testing.T) {
	const slots = 200
	r := rand.New(rand.NewPCG(27, 28))
	byName := make(names, slots)
	for i := range byName {
		byName[i] = randomName(r)
	}
	in := map[uint32]bool{}
	check := func(o *Order) {
		t.Helper()
		var want []uint32
		for slot := range uint32(slots) {
			if in[slot] {
				want = append(want, slot)
			}
		}
		slices.SortFunc(want, byName.compare)
		if o.Len() != len(want) {
			t.Fatalf("Len = %d, want %d", o.Len(), len(want))
		}
		for rank, slot := range want {
			if o.At(uint32(rank)) != slot {
				t.Fatalf("At(%d) = %d, want %d", rank, o.At(uint32(rank)), slot)
			}
			if got, ok := o.rankOf(slot); !ok || got != uint32(rank) {
				t.Fatalf("rankOf(%d) = %d, %v, want %d", slot, got, ok, rank)
			}
		}
		for slot := range uint32(slots) + 5 {
			if _, ok := o.rankOf(slot); ok != in[slot] {
				t.Fatalf("rankOf(%d) reports that the slot is present: %v", slot, ok)
			}
		}
	}
	o := new(Order)
	e := o.Edit(byName.compare)
	for range 500 {
		before, list := o, slices.Clone(o.at)
		bias := r.IntN(10)
		for range r.IntN(30) {
			slot := r.Uint32N(slots)
			if r.IntN(10) >= bias {
				byName[slot] = randomName(r) // a slot that is put again moves
				e.Put(slot)
				in[slot] = true
			} else {
				e.Remove(slot)
				delete(in, slot)
			}
		}
		var err error
		if o, err = e.Commit(); err != nil {
			t.Fatal(err)
		}
		check(o)
		if !slices.Equal(before.at, list) {
			t.Fatal("the previous version has changed")
		}
		if r.IntN(10) == 0 { // the same order again, of slots that are sorted already
			o = NewOrder(slices.Clone(o.at))
			e = o.Edit(byName.compare)
			check(o)
		}
	}
}

func TestOrderIsStrict(t *testing.T) {
	byName := names{"b", "a", "b", "c"}
	for _, c := range []struct {
		name       string
		first, put []uint32
		want       error
	}{
		{"distinct", []uint32{0, 1}, []uint32{3}, nil},
		{"equal to one that is present", []uint32{0, 1}, []uint32{2}, ErrNotStrict},
		{"two new slots are equal", []uint32{1}, []uint32{2, 0}, ErrNotStrict},
		{"the same slot again", []uint32{0, 1}, []uint32{0}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			o, err := newOrder(c.first, byName.compare)
			if err != nil {
				t.Fatal(err)
			}
			e := o.Edit(byName.compare)
			for _, slot := range c.put {
				e.Put(slot)
			}
			if _, err := e.Commit(); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

// TestOrderInsertCompares: adding one slot costs a binary search, not a sort.
func TestOrderInsertCompares(t *testing.T) {
	o := shuffled(t, 10_000)
	compares := 0
	e := o.Edit(func(a, b uint32) int {
		compares++
		return byKey(a, b)
	})
	e.Put(10_000)
	if _, err := e.Commit(); err != nil {
		t.Fatal(err)
	}
	if compares > 15 {
		t.Errorf("%d comparisons to put one slot among 10,000", compares)
	}
}

// byKey orders slots as if they had been shuffled.
func byKey(a, b uint32) int { return cmp.Compare(a*2654435769, b*2654435769) }

func shuffled(tb testing.TB, n uint32) *Order {
	o, err := newOrder(upTo(n), byKey)
	if err != nil {
		tb.Fatal(err)
	}
	return o
}

func TestOrderSort(t *testing.T) {
	o := shuffled(t, 10_000)
	r := rand.New(rand.NewPCG(29, 30))
	var scratch Scratch
	for _, n := range []int{0, 1, 2, 7, bitmapLeast - 1, bitmapLeast, 100, 1090, 10_000} {
		for _, universe := range []int{10_000, max(n, 64)} {
			first := 10_000 - universe // the ranks lie together at the end
			ids := make([]uint32, n)
			for i, rank := range r.Perm(universe)[:n] {
				ids[i] = o.At(uint32(first + rank))
			}
			want := slices.Clone(ids)
			slices.SortFunc(want, byKey)
			o.Sort(ids, &scratch)
			if !slices.Equal(ids, want) {
				t.Errorf("%d ids of %d are not sorted", n, universe)
			}
		}
	}
}

func TestOrderSortMisuse(t *testing.T) {
	o := shuffled(t, 1_000)
	for name, ids := range map[string][]uint32{
		"not in the order":      {1, 1_000},
		"twice":                 {5, 9, 5},
		"twice, with a bitmap":  append(upTo(500), 3),
		"greater than any slot": {noRank},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			o.Sort(ids, new(Scratch))
		})
	}
}

func TestOrderSortAllocatesNothing(t *testing.T) {
	o := shuffled(t, 10_000)
	var scratch Scratch
	ids := upTo(1090)
	o.Sort(ids, &scratch)
	if got := testing.AllocsPerRun(100, func() {
		slices.Reverse(ids)
		o.Sort(ids, &scratch)
	}); got != 0 {
		t.Errorf("%v allocations", got)
	}
}

// TestOrderErrorIsDeterministic: if many slots compare equal, the same edits
// always report the same two.
func TestOrderErrorIsDeterministic(t *testing.T) {
	messages := map[string]bool{}
	for range 20 {
		_, err := newOrder(upTo(20), func(a, b uint32) int { return 0 })
		messages[err.Error()] = true
	}
	if len(messages) != 1 {
		t.Errorf("%d different errors", len(messages))
	}
}

// TestOrderEditorGoesOn: an editor does not repeat what it has committed.
func TestOrderEditorGoesOn(t *testing.T) {
	compares := 0
	e := shuffled(t, 100).Edit(func(a, b uint32) int {
		compares++
		return byKey(a, b)
	})
	e.Put(100)
	o, err := e.Commit()
	if err != nil {
		t.Fatal(err)
	}
	compares = 0
	if again, err := e.Commit(); err != nil || again != o || compares != 0 {
		t.Errorf("without changes: another order %v, %d comparisons, %v", again != o, compares, err)
	}
}
