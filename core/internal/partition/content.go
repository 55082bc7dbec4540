package partition

// An Algebra merges contents during one call, in one goroutine.
//
// A value of S represents a merged content and anything else that must distinguish
// clients, such as its origins. Clients with equal values may share a rule; other
// clients never do. This package only compares values. Small values, such as ids of
// interned contents, are best.
//
// An Algebra may also have a method Complete(s S) bool. It reports whether s is
// complete, so that no item adds anything to it. No item is then added to s, which
// saves time if contents are complete long before the last item.
type Algebra[S comparable] interface {
	// Start returns the content of a client that no item selects.
	Start() S
	// Add returns the content s with an item of lower priority filled in. Items
	// are added from the highest priority down, so Add only fills what s leaves
	// unset. If there is nothing to fill, Add must return s itself: this keeps
	// the cost proportional to the output (SPEC 5.5). The result must depend on
	// the arguments alone.
	Add(s S, item int) S
}

// nothing is the number for clients that no item selects. It differs from the
// number for a client whose items add nothing to Start: "no rule" and "a rule
// with nothing set" are different (SPEC 5.3).
const nothing uint32 = 0

// contents numbers the states in the order in which they occur.
type contents[S comparable] struct {
	algebra  Algebra[S]
	complete func(S) bool // nil if the algebra has no Complete
	states   []S          // by number; states[nothing] is Start
	numbers  map[S]uint32
	sums     map[uint64]uint32 // memo of add: number<<32 | item
}

func newContents[S comparable](algebra Algebra[S]) *contents[S] {
	c := &contents[S]{
		algebra: algebra,
		states:  []S{algebra.Start()},
		numbers: make(map[S]uint32),
		sums:    make(map[uint64]uint32),
	}
	if a, ok := algebra.(interface{ Complete(S) bool }); ok {
		c.complete = a.Complete
	}
	return c
}

// isComplete reports whether no item adds anything to a content. It is false for
// nothing, to which every item adds.
func (c *contents[S]) isComplete(number uint32) bool {
	return number != nothing && c.complete != nil && c.complete(c.states[number])
}

// add returns the number of the content with one more item that selects the client;
// it is never nothing.
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
