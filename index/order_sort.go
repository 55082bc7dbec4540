package index

import (
	"math/bits"
	"slices"
)

// A Scratch is the memory that one goroutine reuses for sorting. The zero Scratch
// is ready to use.
type Scratch struct {
	words []uint64 // a bit per rank; all zero between calls
}

// Sort sorts ids, which must be distinct slots of the order, by rank. Once the
// scratch has grown it allocates nothing. It panics if an id is not in the order or
// is given twice.
func (o *Order) Sort(ids []uint32, scratch *Scratch) {
	// During the sort, ids contains ranks.
	low, high := noRank, uint32(0)
	for i, slot := range ids {
		rank, ok := o.rankOf(slot)
		if !ok {
			panic("index: Sort of a slot that is not in the order")
		}
		ids[i] = rank
		low, high = min(low, rank), max(high, rank)
	}
	if len(ids) < 2 {
		// sorted
	} else if words := int(high/64 - low/64 + 1); len(ids) >= bitmapLeast && words <= bitmapSparse*len(ids) {
		scratch.sort(ids, low/64, words)
	} else {
		slices.Sort(ids)
		for i := 1; i < len(ids); i++ {
			if ids[i] == ids[i-1] {
				panic(sortedTwice)
			}
		}
	}
	for i, rank := range ids {
		ids[i] = o.at[rank]
	}
}

const sortedTwice = "index: Sort of a slot that is given twice"

// Setting bits and reading them in order is faster than sorting if there are at
// least bitmapLeast ids and at most bitmapSparse words per id.
const (
	bitmapLeast  = 32
	bitmapSparse = 8
)

// sort sorts ranks whose bits are in the given number of words, starting at
// word first.
func (s *Scratch) sort(ranks []uint32, first uint32, words int) {
	if len(s.words) < words {
		s.words = make([]uint64, max(words, 2*len(s.words)))
	}
	for _, rank := range ranks {
		s.words[rank/64-first] |= 1 << (rank % 64)
	}
	n := 0
	for i, word := range s.words[:words] {
		if word == 0 {
			continue
		}
		s.words[i] = 0
		for base := (first + uint32(i)) * 64; word != 0; word &= word - 1 {
			ranks[n] = base + uint32(bits.TrailingZeros64(word))
			n++
		}
	}
	if n < len(ranks) {
		panic(sortedTwice)
	}
}
