package partition

// A Tree is a decision over conditions that are evaluated one after the other (SPEC
// 7.7): either a leaf with a content, or a condition with two subtrees, one if it
// holds and one if it does not. Equal subtrees are the same *Tree; both are
// immutable.
type Tree[S comparable] struct {
	condition int // -1: a leaf
	yes, no   *Tree[S]
	content   S
	leaves    int
}

// Leaf returns the content of a leaf, or false if the tree is a condition.
func (t *Tree[S]) Leaf() (content S, ok bool) { return t.content, t.condition < 0 }

// Condition returns the index of the condition at the root and its two
// subtrees. For a leaf the index is -1.
func (t *Tree[S]) Condition() (index int, yes, no *Tree[S]) { return t.condition, t.yes, t.no }

// Leaves returns the number of leaves, with equal subtrees repeated.
func (t *Tree[S]) Leaves() int { return t.leaves }

// Evaluate returns the content for the conditions that hold. It calls holds for
// each condition at most once, in order, and does not allocate.
func (t *Tree[S]) Evaluate(holds func(condition int) bool) S {
	for t.condition >= 0 {
		if holds(t.condition) {
			t = t.yes
		} else {
			t = t.no
		}
	}
	return t.content
}

// BuildTree returns the pruned tree that tests the conditions in the given
// order, the first at the root. A condition that holds adds its content:
// algebra.Add is called with the condition's index, in the order of the tests.
// It is for kinds with a result for each combination of conditions; no built-in
// kind is one.
//
// An opaque condition is a separate key, Present("name"). Conditions over the keys
// of clients may depend on each other: a test is omitted if its outcome follows from
// the tests above it, if its two subtrees are equal, or if its content adds nothing
// (002, Option 3, step 5). The only error is a [*LimitError]; the limit on rules
// applies to leaves.
func BuildTree[S comparable](conditions []Predicate, algebra Algebra[S], limits Limits) (*Tree[S], error) {
	d := &domain{}
	for _, c := range conditions {
		d.declare(c)
	}
	b := newBuilder(d, limits)
	g := &grower[S]{
		builder:  b,
		contents: newContents(algebra),
		roots:    make([]*node, len(conditions)),
		lastUse:  make([]int, len(d.keys)),
		memo:     make(map[position]*Tree[S]),
		unique:   make(map[Tree[S]]*Tree[S]),
	}
	for i, c := range conditions {
		g.roots[i] = b.compile(c)
		visit(g.roots[i], make(map[*node]bool), func(n *node) { g.lastUse[n.key] = i })
	}
	tree := g.grow(position{0, nothing, b.truth(true)})
	if err := b.err(splitting(g.roots), b.names()); err != nil {
		return nil, err
	}
	return tree, nil
}

// position is a state of the tests: the next condition, the content so far, and
// the clients that are still possible, described by the keys that later
// conditions name.
type position struct {
	condition int
	content   uint32
	known     *node
}

type grower[S comparable] struct {
	*builder
	contents *contents[S]
	roots    []*node // by condition
	lastUse  []int   // by key: the last condition that names it
	memo     map[position]*Tree[S]
	unique   map[Tree[S]]*Tree[S]
}

func (g *grower[S]) grow(at position) *Tree[S] {
	if !g.spend(1) || at.condition == len(g.roots) {
		return g.newLeaf(at.content)
	}
	if tree, ok := g.memo[at]; ok {
		return tree
	}
	tree := g.test(at)
	g.memo[at] = tree
	return tree
}

func (g *grower[S]) test(at position) *Tree[S] {
	i, root := at.condition, g.roots[at.condition]
	no := g.truth(false)
	holds := g.and(at.known, root)
	if holds == no {
		return g.grow(g.next(at, at.content, at.known))
	}
	content := g.contents.add(at.content, int32(i))
	fails := g.without(at.known, root)
	if fails == no {
		return g.grow(g.next(at, content, at.known))
	}
	if g.contents.states[content] == g.contents.states[at.content] {
		return g.grow(g.next(at, at.content, at.known))
	}
	return g.newTest(i, g.grow(g.next(at, content, holds)), g.grow(g.next(at, at.content, fails)))
}

// next returns the position of the next condition. It drops the knowledge about
// keys that no remaining condition names, so that positions that differ only in
// such keys are equal. Opaque conditions are dropped at once.
func (g *grower[S]) next(at position, content uint32, known *node) position {
	return position{at.condition + 1, content, g.forget(known, at.condition+1, make(map[*node]*node))}
}

func (g *grower[S]) forget(n *node, condition int, memo map[*node]*node) *node {
	if n.isTerminal() || !g.spend(1+len(n.edges)) {
		return n
	}
	if done, ok := memo[n]; ok {
		return done
	}
	other, absent := g.forget(n.other, condition, memo), g.forget(n.absent, condition, memo)
	var done *node
	if g.lastUse[n.key] < condition {
		done = g.or(other, absent)
		for _, e := range n.edges {
			done = g.or(done, g.forget(e.child, condition, memo))
		}
	} else {
		var edges []edge
		for _, e := range n.edges {
			if child := g.forget(e.child, condition, memo); child != other {
				edges = append(edges, edge{e.value, child})
			}
		}
		done = g.node(n.key, other, absent, edges)
	}
	memo[n] = done
	return done
}

func (g *grower[S]) newLeaf(content uint32) *Tree[S] {
	return g.intern(Tree[S]{condition: -1, content: g.contents.states[content], leaves: 1})
}

func (g *grower[S]) newTest(condition int, yes, no *Tree[S]) *Tree[S] {
	if yes == no {
		return yes
	}
	g.allow(yes.leaves + no.leaves)
	return g.intern(Tree[S]{condition: condition, yes: yes, no: no, leaves: yes.leaves + no.leaves})
}

// intern returns the tree that is equal to t.
func (g *grower[S]) intern(t Tree[S]) *Tree[S] {
	if g.unique[t] == nil {
		g.unique[t] = &t
	}
	return g.unique[t]
}
