package partition

import "slices"

// A Partition maps every client that could exist to its content.
// It is immutable and safe for concurrent use.
type Partition[S comparable] struct {
	domain *domain
	root   *node // terminals are numbers of states
	states []S   // by number; states[nothing] is Start
	items  []int // the items that distinguish clients; for errors
	limits Limits
}

// Build partitions all clients by the items that select them. Items are in
// order, a later one has the higher priority; algebra.Add is called with their index.
// The only error is a [*LimitError].
//
// The content of a client is Start, with Add called for every item that selects
// the client, from the highest priority down. This is SPEC 5.1 in reverse
// order.
//
// Cost: let D(j) be the diagram of the j items of the highest priority. The work
// is the sum over j of |D(j)| x |diagram of the next item|. If equal states imply
// equal origins (no state is reached by two different sets of items that added
// something), D(j) is never larger than the result: the content after j items is
// the final content restricted to the origins among them, so D(j) is the result
// with some terminals made equal. So k items with k keys that completely override
// each other cost k^2 steps at most, not 2^k. With Disjoint, k = 5, 10, 20, 40
// take 10, 34, 111, 385 µs (BenchmarkDistinctKeys, AMD EPYC). For other algebras
// the work limit bounds the intermediate diagrams.
func Build[S comparable](items []Predicate, algebra Algebra[S], limits Limits) (*Partition[S], error) {
	b := newBuilder(&domain{}, limits)
	// The order of the keys is by their first use from the highest priority down. The diagram
	// then tests the deciding keys first. Once an item settles the content, the keys of lower
	// items are not tested. An override chain of k items is a chain of k nodes. In the reverse
	// order it would be a tree.
	for _, item := range slices.Backward(items) {
		b.domain.declare(item)
	}
	roots := make([]*node, len(items))
	for i, item := range items {
		roots[i] = b.compile(item)
	}
	contents := newContents(algebra)
	f := newFilling(b, contents)
	root := b.terminal(nothing)
	for _, run := range b.runs(roots) {
		root = f.add(root, b.selection(run, roots))
	}
	split := splitting(roots)
	if err := b.err(split, b.names()); err != nil {
		return nil, err
	}
	return &Partition[S]{b.domain, root, contents.states, split, b.limits}, nil
}

// splitting returns the indexes of the predicates that distinguish clients, the
// highest priority first.
func splitting(roots []*node) []int {
	var items []int
	for i := len(roots) - 1; i >= 0; i-- {
		if !roots[i].isTerminal() {
			items = append(items, i)
		}
	}
	return items
}

// Evaluate returns the content of a client, a map from key to value, and
// whether any item selects it; if none does, the content is Start. It reads each
// key at most once and does not allocate.
func (p *Partition[S]) Evaluate(client map[string]string) (content S, selected bool) {
	number := p.domain.walk(p.root, client).number
	return p.states[number], number != nothing
}

// filling adds items to a partition's diagram, one selection after the other.
type filling[S comparable] struct {
	builder   *builder
	contents  *contents[S]
	selection selection
	memo      pairs               // of fill
	live      map[uint32]struct{} // contents that this selection made
}

func newFilling[S comparable](b *builder, c *contents[S]) *filling[S] {
	return &filling[S]{
		builder:  b,
		contents: c,
		memo:     make(pairs),
		live:     make(map[uint32]struct{}),
	}
}

// add returns the diagram d with the selected items added at every terminal.
func (f *filling[S]) add(d *node, s selection) *node {
	f.selection = s
	clear(f.memo)
	clear(f.live)
	return f.fill(d, s.root)
}

func (f *filling[S]) fill(d, selected *node) *node {
	if selected.isTerminal() {
		items := f.selection.lists[selected.number]
		if len(items) == 0 {
			return d
		}
		if d.isTerminal() {
			return f.terminal(d.number, items)
		}
	} else if d.isTerminal() && f.settled(d.number) {
		return d
	}
	return f.builder.combine(f.memo, d, selected, f.fill)
}

// terminal adds the items to one content. The contents that one selection makes
// are in the diagram at the same time. Each needs at least one rule, so too
// many of them exceed the limit.
func (f *filling[S]) terminal(number uint32, items []int32) *node {
	if !f.builder.spend(len(items)) {
		return f.builder.terminal(number)
	}
	for _, item := range items {
		if f.contents.isComplete(number) {
			break
		}
		number = f.contents.add(number, item)
	}
	f.live[number] = struct{}{}
	f.builder.allow(len(f.live))
	return f.builder.terminal(number)
}

// settled reports whether none of the selection's items adds anything to a content; it
// then does not matter which of them select the client. Every item adds to nothing, so
// nothing is not settled.
func (f *filling[S]) settled(number uint32) bool {
	if f.contents.isComplete(number) {
		return true
	}
	for _, item := range f.selection.items {
		if !f.builder.spend(1) || f.contents.add(number, item) != number {
			return false
		}
	}
	return true
}
