package partition

import (
	"cmp"
	"slices"
)

// Regions returns each content once, and the choice among the sets of clients that have
// the contents. The sets cover all clients (SPEC 9.4). Contents and sets are parallel.
// The function content returns the content that a value of S represents; different
// values may represent the same content. Clients that no item selects have the content
// of Start. Contents are in the order in which they first occur: the content of Start
// first, then from the highest priority down. The only error is a [*LimitError].
func Regions[S, C comparable](p *Partition[S], content func(S) C) (contents []C, choice *Choice, err error) {
	all := make([]C, len(p.states))
	for number, state := range p.states {
		all[number] = content(state)
	}
	b := newBuilder(p.domain.byName(), p.limits)
	r := &regionWalk{
		builder: b,
		merged:  mergeEqual(all),
		memo:    make(map[*node][]terminalSet),
	}
	var sets []terminalSet
	if len(all) <= b.limits.Regions || b.allowRegions(r.count(p.root)) {
		sets = r.walk(p.root)
	}
	o := &reorder{builder: b, from: p.domain, memo: make(map[*node]*node)}
	choice = &Choice{domain: p.domain, root: p.root, indexes: make([]int32, len(all))}
	regions := make([]int32, len(all)) // by the number of the terminal
	for i, s := range sets {
		if b.exceeded != "" {
			break
		}
		contents = append(contents, all[s.number])
		choice.sets = append(choice.sets, b.set(o.node(s.root)))
		regions[s.number] = int32(i)
	}
	if err := b.err(p.items, p.domain.names()); err != nil {
		return nil, nil, err
	}
	for number := range all {
		choice.indexes[number] = regions[r.merged[number]]
	}
	return contents, choice, nil
}

// mergeEqual maps each number to the first one with the same content.
func mergeEqual[C comparable](contents []C) []uint32 {
	first := make(map[C]uint32, len(contents))
	merged := make([]uint32, len(contents))
	for number, content := range contents {
		if _, ok := first[content]; !ok {
			first[content] = uint32(number)
		}
		merged[number] = first[content]
	}
	return merged
}

// terminalSet is the diagram, over the keys of the partition, of the clients
// that reach a terminal.
type terminalSet struct {
	number uint32
	root   *node
}

// regionWalk splits a partition's diagram into one diagram for each terminal. It
// visits a node once, and handles only the contents below the node.
type regionWalk struct {
	*builder
	merged []uint32
	memo   map[*node][]terminalSet
}

// count returns the number of sets that walk returns. It costs much less, so too many
// sets are never built.
func (r *regionWalk) count(root *node) int {
	numbers := make(map[uint32]bool)
	reach := func(n *node) {
		if n.isTerminal() {
			numbers[r.merged[n.number]] = true
		}
	}
	reach(root)
	visit(root, make(map[*node]bool), func(n *node) {
		reach(n.other)
		reach(n.absent)
		for _, e := range n.edges {
			reach(e.child)
		}
	})
	return len(numbers)
}

// walk returns the sets below n by ascending number.
func (r *regionWalk) walk(n *node) []terminalSet {
	if n.isTerminal() {
		return []terminalSet{{r.merged[n.number], r.truth(true)}}
	}
	if sets, ok := r.memo[n]; ok {
		return sets
	}
	no := r.truth(false)
	parts := make(map[uint32]*node) // nodes under construction
	part := func(number uint32) *node {
		if parts[number] == nil {
			parts[number] = &node{other: no, absent: no}
		}
		return parts[number]
	}
	others := r.walk(n.other)
	for _, s := range others {
		part(s.number).other = s.root
	}
	for _, s := range r.walk(n.absent) {
		part(s.number).absent = s.root
	}
	for _, e := range n.edges {
		sets := r.walk(e.child)
		if !r.spend(len(sets) + len(others)) {
			return nil
		}
		for _, s := range sets {
			if p := part(s.number); s.root != p.other {
				p.edges = append(p.edges, edge{e.value, s.root})
			}
		}
		for _, s := range others {
			if _, found := slices.BinarySearchFunc(sets, s.number, compareNumber); !found {
				p := parts[s.number]
				p.edges = append(p.edges, edge{e.value, no})
			}
		}
	}
	sets := make([]terminalSet, 0, len(parts))
	for number, p := range parts {
		sets = append(sets, terminalSet{number, r.node(n.key, p.other, p.absent, p.edges)})
	}
	slices.SortFunc(sets, func(a, b terminalSet) int { return cmp.Compare(a.number, b.number) })
	r.memo[n] = sets
	return sets
}

func compareNumber(s terminalSet, number uint32) int { return cmp.Compare(s.number, number) }

// reorder rebuilds a diagram of a predicate for another order of the same keys. Both
// diagrams come from one builder and share terminals. The old nodes number keys by the
// old order.
type reorder struct {
	*builder
	from *domain
	memo map[*node]*node
}

func (o *reorder) node(n *node) *node {
	if n.isTerminal() {
		return n
	}
	if done, ok := o.memo[n]; ok {
		return done
	}
	if !o.spend(1 + len(n.edges)) {
		return n
	}
	key := o.index[o.from.keys[n.key].name]
	other, absent := o.node(n.other), o.node(n.absent)
	edges := make([]edge, len(n.edges))
	direct := key < other.key && key < absent.key
	for i, e := range n.edges {
		edges[i] = edge{e.value, o.node(e.child)}
		direct = direct && key < edges[i].child.key
	}
	var done *node
	if direct {
		done = o.builder.node(key, other, absent, edges)
	} else {
		done = o.choose(key, other, absent, edges)
	}
	o.memo[n] = done
	return done
}

// choose builds "if the key's value is x then child x". The children may test keys
// that are ordered before the key.
func (o *reorder) choose(key int32, other, absent *node, edges []edge) *node {
	no, yes := o.truth(false), o.truth(true)
	excluded := make([]edge, len(edges))
	for i, e := range edges {
		excluded[i] = edge{e.value, no}
	}
	terms := []*node{
		o.and(o.builder.node(key, yes, no, excluded), other),
		o.and(o.builder.node(key, no, yes, nil), absent),
	}
	for _, e := range edges {
		terms = append(terms, o.and(o.builder.node(key, no, no, []edge{{e.value, yes}}), e.child))
	}
	return o.fold(len(terms), func(i int) *node { return terms[i] }, o.or, no)
}
