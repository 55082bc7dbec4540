package index

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// ErrNotStrict indicates that a compare function found two slots equal, so that
// their order would depend on the order of the input.
var ErrNotStrict = errors.New("the order is not strict")

// An Order is an immutable strict total order of slots. A slot is the dense
// number of an ordered value; its rank is its position in the order, from 0.
// Slots are compared only when they are added; sorting a set of slots then
// compares ranks. Sorting 1,090 of 10,000 slots takes 3.1 µs, and sorting 7
// takes 35 ns (BenchmarkOrderSort). With a compare function over plain numbers
// it takes 33 µs and 55 ns. Publishing a version with one moved slot takes 16
// µs (BenchmarkOrderPut).
//
// The zero Order is empty.
type Order struct {
	at   []uint32 // slots by rank
	rank []uint32 // ranks by slot; noRank if the slot is not in the order
}

const noRank = ^uint32(0)

// NewOrder returns the order of slots that a caller has sorted, each once. It retains the
// slice.
func NewOrder(slots []uint32) *Order {
	limit := uint32(0)
	for _, slot := range slots {
		limit = max(limit, slot+1)
	}
	o := &Order{at: slots, rank: slices.Repeat([]uint32{noRank}, int(limit))}
	for rank, slot := range slots {
		o.rank[slot] = uint32(rank)
	}
	return o
}

// Len returns the number of slots.
func (o *Order) Len() int { return len(o.at) }

// At returns the slot of a rank below Len.
func (o *Order) At(rank uint32) (slot uint32) { return o.at[rank] }

func (o *Order) rankOf(slot uint32) (rank uint32, ok bool) {
	if int(slot) >= len(o.rank) || o.rank[slot] == noRank {
		return 0, false
	}
	return o.rank[slot], true
}

// Edit returns an editor that starts from o. compare must accept all slots of the
// order until the last Commit. Its result for a slot may change only if that slot
// is Put again.
func (o *Order) Edit(compare func(a, b uint32) int) *OrderEditor {
	return &OrderEditor{base: o, compare: compare}
}

// An OrderEditor makes the next version of an Order.
type OrderEditor struct {
	base    *Order
	compare func(a, b uint32) int
	touched []touch // in the order of the calls
}

// touch is a call of Put or Remove.
type touch struct {
	slot uint32
	put  bool // by Put, not Remove
}

// Grow prepares the editor for n calls of Put and Remove.
func (e *OrderEditor) Grow(n int) { e.touched = slices.Grow(e.touched, n) }

// Put adds slot, or moves it if the result of compare for it has changed.
func (e *OrderEditor) Put(slot uint32) { e.touched = append(e.touched, touch{slot, true}) }

// Remove removes slot, if it is in the order.
func (e *OrderEditor) Remove(slot uint32) { e.touched = append(e.touched, touch{slot, false}) }

// compact keeps the last touch of each slot, sorted by slot, so that Commit makes
// the same comparisons for any order of the calls.
func (e *OrderEditor) compact() {
	bySlot := func(a, b touch) int { return cmp.Compare(a.slot, b.slot) }
	if !slices.IsSortedFunc(e.touched, bySlot) {
		slices.SortStableFunc(e.touched, bySlot)
	}
	last := e.touched[:0]
	for i, t := range e.touched {
		if i+1 == len(e.touched) || e.touched[i+1].slot != t.slot {
			last = append(last, t)
		}
	}
	e.touched = last
}

// sort sorts slots by compare. If two slots compare equal, it returns
// ErrNotStrict. Slots that are already sorted cost one comparison each.
func (e *OrderEditor) sort(slots []uint32) error {
	sorted := func() (at int, ok bool) {
		for i := 1; i < len(slots); i++ {
			if e.compare(slots[i-1], slots[i]) >= 0 {
				return i, false
			}
		}
		return 0, true
	}
	if _, ok := sorted(); ok {
		return nil
	}
	slices.SortFunc(slots, e.compare)
	if i, ok := sorted(); !ok {
		return notStrict(slots[i-1], slots[i])
	}
	return nil
}

// Commit publishes the next version. For k slots that were put, it calls
// compare about k log n times, and it copies two arrays of n slots. If compare
// returns 0 for two slots, it returns ErrNotStrict with these slots and commits
// nothing.
func (e *OrderEditor) Commit() (*Order, error) {
	if len(e.touched) == 0 {
		return e.base, nil
	}
	e.compact()
	var gone []uint32 // ranks
	come := make([]uint32, 0, len(e.touched))
	limit := len(e.base.rank)
	for _, t := range e.touched {
		if rank, ok := e.base.rankOf(t.slot); ok {
			gone = append(gone, rank)
		}
		if t.put {
			come = append(come, t.slot)
			limit = max(limit, int(t.slot)+1)
		}
	}
	slices.Sort(gone)
	if err := e.sort(come); err != nil {
		return nil, err
	}
	at, first, err := e.merge(gone, come)
	if err != nil {
		return nil, err
	}
	e.base = &Order{at: at, rank: e.base.ranks(at, gone, first, limit)}
	e.touched = nil
	return e.base, nil
}

// merge returns the slots by rank, without those at the gone ranks and with those that come.
// Both are sorted. First is the lowest rank whose slot may differ from the base.
func (e *OrderEditor) merge(gone, come []uint32) (at []uint32, first int, err error) {
	at = make([]uint32, 0, len(e.base.at)-len(gone)+len(come))
	from := uint32(0)
	for _, rank := range gone {
		at = append(at, e.base.at[from:rank]...)
		from = rank + 1
	}
	at = append(at, e.base.at[from:]...)

	// at[:end] contains the slots that remain. New slots are inserted from the last
	// one backwards, and each moves the following ones up.
	end := len(at)
	at = at[:cap(at)]
	for i := len(come) - 1; i >= 0; i-- {
		place, equal := slices.BinarySearchFunc(at[:end], come[i], e.compare)
		if equal {
			return nil, 0, notStrict(at[place], come[i])
		}
		copy(at[place+i+1:], at[place:end])
		at[place+i] = come[i]
		end = place
	}
	if len(gone) > 0 {
		end = min(end, int(gone[0]))
	}
	return at, end, nil
}

// ranks returns the ranks by slot, below limit, of a version with the slots at. Below the rank
// first, it differs from o only at the gone ranks.
func (o *Order) ranks(at, gone []uint32, first, limit int) []uint32 {
	rank := make([]uint32, limit)
	copied := copy(rank, o.rank)
	for i := copied; i < limit; i++ {
		rank[i] = noRank
	}
	for _, r := range gone {
		rank[o.at[r]] = noRank
	}
	for r := first; r < len(at); r++ {
		rank[at[r]] = uint32(r)
	}
	return rank
}

func notStrict(a, b uint32) error {
	return fmt.Errorf("%w: slots %d and %d compare equal", ErrNotStrict, a, b)
}
