package partition

// A Choice finds which of several predicates accepts a client. No two of the
// predicates accept the same client (SPEC 9.3). It is immutable and safe for
// concurrent use. The zero Choice has no predicates.
type Choice struct {
	domain  *domain
	root    *node
	indexes []int32 // of predicates, by the number of a terminal; none if the terminal has no predicate
	sets    []Clients
}

// none is the index of a terminal without a predicate.
const none = -1

// Overlap is a client that two predicates accept.
type Overlap struct {
	First, Second int // indexes, First < Second
	Witness       map[string]string
}

// NewChoice returns the choice among the predicates or, with a nil Choice, an
// overlap if two of them accept the same client. If there are several overlaps, it
// returns one with the smallest Second, and among these the smallest First. The only
// error is a [*LimitError].
//
// The diagrams of the predicates are combined in pairs, then pairs of pairs,
// into one diagram whose terminals are the indexes of predicates. Where two
// predicates accept the same client, the smaller index is kept and the pair is
// recorded. To see that this finds the overlap with the smallest Second, and
// then the smallest First, take a client of that overlap. The two smallest
// predicates that accept the client are First and Second. Each half keeps its
// smallest predicate at the client's terminal, so the pair is recorded when the
// halves that contain First and Second are combined.
func NewChoice(predicates []Predicate, limits Limits) (*Choice, *Overlap, error) {
	b, roots := compileByName(predicates, limits)
	c := &chooser{builder: b, first: -1, memo: make(pairs)}
	numbered := func(i int) *node { return b.number(roots[i], uint32(i)+1) }
	root := b.fold(len(roots), numbered, c.combine, b.truth(false))
	if c.first >= 0 {
		witness, _ := b.clientAt(b.and(roots[c.first], roots[c.second]), isOne)
		return nil, &Overlap{c.first, c.second, witness}, nil
	}
	choice := &Choice{
		domain: b.domain, root: root,
		indexes: make([]int32, len(roots)+1), // terminal i+1 is predicate i
		sets:    make([]Clients, len(roots)),
	}
	choice.indexes[0] = none
	for i := range roots {
		choice.indexes[i+1] = int32(i)
		choice.sets[i] = b.set(roots[i])
	}
	if err := b.err(splitting(roots), b.names()); err != nil {
		return nil, nil, err
	}
	return choice, nil, nil
}

// Choose returns the index of the predicate that accepts the client, or -1 and false
// if there is none. It reads each key at most once, with any number of other keys in
// the client, and does not allocate.
func (c *Choice) Choose(client map[string]string) (index int, ok bool) {
	if c.root == nil {
		return none, false
	}
	index = int(c.indexes[c.domain.walk(c.root, client).number])
	return index, index != none
}

// Sets returns the clients that each predicate accepts, by index. The slice
// must not be changed.
func (c *Choice) Sets() []Clients { return c.sets }

// Uncovered returns a client that no predicate accepts, or nil if there is no
// such client. The client without any key is an empty map, not nil.
func (c *Choice) Uncovered() map[string]string {
	if c.root == nil {
		return map[string]string{}
	}
	client, _ := c.domain.clientAt(c.root, func(number uint32) bool { return c.indexes[number] == none })
	return client
}

// number returns the diagram with another number instead of 1.
func (b *builder) number(root *node, number uint32) *node {
	memo := make(pairs)
	var rec func(n, one *node) *node
	rec = func(n, one *node) *node {
		switch {
		case isTrue(n):
			return one
		case n.isTerminal():
			return n
		}
		return b.combine(memo, n, one, rec)
	}
	return rec(root, b.terminal(number))
}

// chooser combines numbered diagrams of disjoint predicates.
type chooser struct {
	*builder
	memo          pairs
	first, second int // of the overlap; first is -1 if there is none
}

func (c *chooser) combine(x, y *node) *node {
	switch {
	case isFalse(x):
		return y
	case isFalse(y):
		return x
	case x.isTerminal() && y.isTerminal():
		return c.overlap(x, y)
	}
	return c.builder.combine(c.memo, x, y, c.combine)
}

// overlap records that the predicates of two terminals accept the same client,
// unless an earlier pair is recorded, and returns the terminal of the first.
func (c *chooser) overlap(x, y *node) *node {
	if x.number > y.number {
		x, y = y, x
	}
	first, second := int(x.number)-1, int(y.number)-1
	if c.first < 0 || second < c.second || second == c.second && first < c.first {
		c.first, c.second = first, second
	}
	return x
}
