package variant

import (
	"encoding/binary"
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/partition"
)

// tuples is an Algebra whose States are tuples of items. Each item belongs to one place of
// the tuple, and the items of one place exclude each other.
type tuples struct {
	items  []partition.Predicate
	places []int // parallel to items
	known  map[string]int
	list   [][]int // by State: an item for each place, or noItem
}

const noItem = -1

// newTuples returns an algebra of tuples with the given number of places.
func newTuples(places int) *tuples {
	t := &tuples{known: make(map[string]int)}
	t.state(slices.Repeat([]int{noItem}, places))
	return t
}

// add adds an item to a place, for parameters that a predicate accepts.
func (t *tuples) add(accepts partition.Predicate, place int) {
	t.items = append(t.items, accepts)
	t.places = append(t.places, place)
}

func (t *tuples) state(tuple []int) int {
	var key []byte
	for _, item := range tuple {
		key = binary.AppendVarint(key, int64(item))
	}
	if state, ok := t.known[string(key)]; ok {
		return state
	}
	state := len(t.list)
	t.known[string(key)] = state
	t.list = append(t.list, tuple)
	return state
}

// Start returns the State without items.
func (t *tuples) Start() int { return 0 }

// Add sets the place of an item to the item.
func (t *tuples) Add(state, item int) int {
	next := slices.Clone(t.list[state])
	next[t.places[item]] = item
	return t.state(next)
}
