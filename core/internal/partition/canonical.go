package partition

import "slices"

// maxLevels is the depth beyond which a nested canonical form is written as a
// flat OR, if the limits allow it. SPEC 9.1 allows 32 levels; one level is
// reserved for an AND with the keys that make no difference (SPEC 9.3).
const maxLevels = 31

// set returns the diagram as Clients. Its keys must ascend by name.
//
// The canonical form is a function of the diagram. The diagram is a function of the
// accepted clients, because keys and printed values are ordered by name. At each node,
// the answers are grouped by the child to which they lead. Each group is "the key has
// one of these values" AND the form of the child; the groups are ORed. Two cases are
// written shorter: a group that leads to false is omitted, and if one group leads to
// true, a single other group needs no guard. So "neither" in 004 becomes NOT env=prod
// AND NOT version=v1.
func (b *builder) set(root *node) Clients {
	if b.exceeded != "" {
		return Clients{}
	}
	w := &formWriter{builder: b, memo: make(map[*node]form), edges: make(map[*node][]edge)}
	nested := w.form(root)
	if nested.levels > maxLevels {
		if flat, ok := w.flat(root); ok {
			nested = flat
		}
	}
	return Clients{b.domain, root, nested.predicate}
}

// form is a written predicate with its measures. Forms share members, so the
// printed size can be exponential in the size of the diagram. It is counted without
// printing, to check the limits first.
type form struct {
	predicate Predicate
	size      int // operations and literals, each occurrence
	levels    int
}

type formWriter struct {
	*builder
	memo  map[*node]form
	edges map[*node][]edge // by name
}

func (w *formWriter) edgesByName(n *node) []edge {
	edges, ok := w.edges[n]
	if !ok {
		edges = w.domain.edgesByName(n)
		w.edges[n] = edges
	}
	return edges
}

func (w *formWriter) form(n *node) form {
	if n.isTerminal() {
		return leaf(map[bool]Predicate{true: True(), false: False()}[isTrue(n)])
	}
	if f, ok := w.memo[n]; ok {
		return f
	}
	op, chain, last := w.chain(n)
	if len(chain) > 0 {
		f := w.join(op, append(chain, w.form(last))...)
		w.memo[n] = f
		return f
	}
	groups, _ := w.groups(n)
	terms := make([]form, len(groups))
	for i, g := range groups {
		terms[i] = w.join(OpAnd, w.guard(n, g), w.form(g.child))
	}
	f := w.join(OpOr, terms...)
	w.memo[n] = f
	return f
}

// chain returns the guards of the nodes from n on that are written "guard AND the
// form of the next node", or "guard OR ...". It also returns the node after them.
// A chain is joined in one step. Joining it node by node would copy its members
// once for each node before them.
func (w *formWriter) chain(n *node) (op Op, guards []form, last *node) {
	for ; !n.isTerminal() && w.memo[n].size == 0; n = last {
		groups, excluded := w.groups(n)
		var next Op
		guarded, rest := 0, 0
		switch {
		case len(groups) == 1:
			next = OpAnd
		case len(groups) == 2 && !excluded && isTrue(groups[0].child):
			next, rest = OpOr, 1
		case len(groups) == 2 && !excluded && isTrue(groups[1].child):
			next, guarded = OpOr, 1
		default:
			return op, guards, n
		}
		if len(guards) > 0 && next != op {
			return op, guards, n
		}
		op, last = next, groups[rest].child
		guards = append(guards, w.guard(n, groups[guarded]))
	}
	return op, guards, n
}

// group contains the answers of a node that lead to one child.
type group struct {
	child         *node
	values        []string // mentioned values, by name
	other, absent bool
}

// groups returns the groups that do not lead to false, in the order of their
// first answers (values by name, other, absent). excluded reports whether any group
// leads to false.
func (w *formWriter) groups(n *node) (groups []group, excluded bool) {
	index := make(map[*node]int)
	at := func(child *node) *group {
		if isFalse(child) {
			excluded = true
			return &group{}
		}
		i, ok := index[child]
		if !ok {
			i = len(groups)
			index[child] = i
			groups = append(groups, group{child: child})
		}
		return &groups[i]
	}
	values := w.keys[n.key].values
	for _, e := range w.edgesByName(n) {
		g := at(e.child)
		g.values = append(g.values, values[e.value])
	}
	at(n.other).other = true
	at(n.absent).absent = true
	return groups, excluded
}

// guard writes the predicate that accepts the clients whose answer at n is in the group.
func (w *formWriter) guard(n *node, g group) form {
	key := &w.keys[n.key]
	if !g.other {
		var terms []form
		for _, value := range g.values {
			terms = append(terms, leaf(Equal(key.name, value)))
		}
		if g.absent {
			terms = append(terms, w.not(Present(key.name)))
		}
		return w.join(OpOr, terms...)
	}
	var terms []form
	if !g.absent {
		terms = append(terms, leaf(Present(key.name)))
	}
	for _, e := range w.edgesByName(n) {
		if e.child != g.child { // no edge leads to other
			terms = append(terms, w.not(Equal(key.name, key.values[e.value])))
		}
	}
	return w.join(OpAnd, terms...)
}

func leaf(p Predicate) form { return form{p, 1, 1} }

func (w *formWriter) not(p Predicate) form { return form{Not(p), 2, 2} }

// join writes the AND or OR of forms. It splices in members with the same
// operation, so the neutral element disappears. A single member is written
// alone.
func (w *formWriter) join(op Op, terms ...form) form {
	f := form{predicate: Predicate{op: op}, size: 1}
	for _, t := range terms {
		f.size += t.size
		if t.predicate.op == op {
			f.size-- // only the members
		}
		if !w.allow(f.size) {
			return leaf(False())
		}
		if t.predicate.op == op {
			f.levels = max(f.levels, t.levels-1)
			f.predicate.members = append(f.predicate.members, t.predicate.members...)
			continue
		}
		f.levels = max(f.levels, t.levels)
		f.predicate.members = append(f.predicate.members, t.predicate)
	}
	if len(f.predicate.members) == 1 {
		f.predicate = f.predicate.members[0]
		f.size--
		return f
	}
	f.levels++
	return f
}

// flat writes the OR of selectors, which has four levels, or returns false if
// it would exceed the limits.
func (w *formWriter) flat(root *node) (f form, ok bool) {
	paths := newPathWalk(w.domain, w.limits)
	paths.walk(root) // it skips false, whose number equals nothing
	paths.join(2)
	texts := make([]string, len(paths.paths))
	terms := make(map[string]Predicate, len(paths.paths))
	for i, path := range paths.paths {
		selector := paths.selector(path.conditions)
		texts[i] = selector.String()
		terms[texts[i]] = selector.Predicate()
	}
	slices.Sort(texts)
	f = form{predicate: False(), levels: 4}
	for _, text := range texts {
		f.predicate.members = append(f.predicate.members, terms[text])
		f.size += 1 + 2*len(terms[text].members)
	}
	return f, paths.allow(f.size)
}
