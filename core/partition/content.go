package partition

// An Algebra merges contents. It is the caller's; the package calls it from
// one goroutine and never looks into a State.
//
// A State stands for a merged content together with whatever the caller wants
// to tell apart, its origins for example: equal states may share a rule,
// different ones never do. Small values that are ids of the caller's own
// (interned) contents serve best.
type Algebra[S comparable] interface {
	// Start returns the content of a client that no item selects.
	Start() S
	// Add returns the content s with a lower-priority item filled in. It is
	// called from the highest priority down, so it only has to fill what s
	// leaves unset, and must return s itself when there is nothing to fill:
	// this is what keeps the cost at the size of the output (SPEC 5.5). It
	// must be a function of its arguments.
	Add(s S, item int) S
}

// nothing is the number of the content of clients that no item selects. It
// differs from every other number, also where an item that selects the client
// adds nothing to Start: "no rule" and "a rule with nothing set" are not the
// same (SPEC 5.3).
const nothing uint32 = 0

// contents numbers the states that occur, in the order in which they occur.
type contents[S comparable] struct {
	algebra Algebra[S]
	states  []S // by number; states[nothing] is Start
	numbers map[S]uint32
	sums    map[uint64]uint32 // memo of add: number<<32 | item
}

func newContents[S comparable](algebra Algebra[S]) *contents[S] {
	return &contents[S]{
		algebra: algebra,
		states:  []S{algebra.Start()},
		numbers: make(map[S]uint32),
		sums:    make(map[uint64]uint32),
	}
}

// add returns the number of the content with one more item that selects; it is
// never nothing.
func (c *contents[S]) add(number uint32, item int32) uint32 {
	key := uint64(number)<<32 | uint64(uint32(item))
	if sum, ok := c.sums[key]; ok {
		return sum
	}
	state := c.algebra.Add(c.states[number], int(item))
	sum, ok := c.numbers[state]
	if !ok {
		sum = uint32(len(c.states))
		c.states = append(c.states, state)
		c.numbers[state] = sum
	}
	c.sums[key] = sum
	return sum
}
