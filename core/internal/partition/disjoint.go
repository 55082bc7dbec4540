package partition

import (
	"cmp"
	"slices"
)

// Disjoint returns rules whose selectors may negate. Exactly one rule selects each
// client that any item selects; no rule selects another client (SPEC 5.3).
//
// The rules are the paths of the diagram that do not end in "nothing": values in
// the order in which items mention them, then other values, then clients without
// the key. If every item names at most one tag, the rules are minimal (SPEC 5.4).
// At each key, a path has one mentioned value, or the values that no item mentions,
// with or without "absent". The diagram separates such values from other values
// only if different items select them. So a path is a union of sets of clients that
// the same items select. Rules with equal contents are then joined if one selector
// can select the clients of both.
//
// Every node of a diagram has a path to some content. So the cost is the number of
// rules times the number of keys, and the only error is a [*LimitError]. An item
// that names several tags may need many rules: the complement of a=1,b=1 is not one
// selector but two, a!=1 and a=1,b!=1.
func (p *Partition[S]) Disjoint() (Rules[S], error) {
	w := newPathWalk(p.domain, p.limits)
	w.walk(p.root)
	w.join(len(p.states))
	if err := w.err(p.items, p.domain.names()); err != nil {
		return nil, err
	}
	rules := make(Rules[S], len(w.paths))
	for i, path := range w.paths {
		rules[i] = Rule[S]{w.selector(path.conditions), p.states[path.content]}
	}
	return rules, nil
}

// A path is a rule under construction.
type path struct {
	content    uint32
	conditions []condition // by ascending key
}

// A condition is a [Requirement] with numbers for the key and its values.
type condition struct {
	key   int32
	kind  Kind
	value uint32
	not   []uint32 // ascending; shared between paths
}

// pathWalk collects the paths of a diagram to every terminal except nothing.
type pathWalk struct {
	budget
	domain     *domain
	paths      []path
	conditions []condition          // of the path so far
	not        map[*node][]uint32   // the values with an edge
	names      map[*uint32][]string // of a list of not, by its first element
}

func newPathWalk(d *domain, limits Limits) *pathWalk {
	return &pathWalk{budget: newBudget(limits), domain: d, not: make(map[*node][]uint32), names: make(map[*uint32][]string)}
}

func (w *pathWalk) walk(n *node) {
	if n.isTerminal() {
		if n.number != nothing && w.allow(len(w.paths)+1) {
			w.paths = append(w.paths, path{n.number, slices.Clone(w.conditions)})
		}
		return
	}
	if !w.spend(1 + len(n.edges)) {
		return
	}
	for _, e := range n.edges {
		w.follow(e.child, condition{key: n.key, kind: Is, value: e.value})
	}
	not := w.not[n]
	if not == nil && len(n.edges) > 0 {
		for _, e := range n.edges {
			not = append(not, e.value)
		}
		w.not[n] = not
	}
	if n.absent == n.other {
		w.follow(n.other, condition{key: n.key, kind: IsNot, not: not})
		return
	}
	w.follow(n.other, condition{key: n.key, kind: Exists, not: not})
	w.follow(n.absent, condition{key: n.key, kind: Absent})
}

func (w *pathWalk) follow(n *node, a condition) {
	w.conditions = append(w.conditions, a)
	w.walk(n)
	w.conditions = w.conditions[:len(w.conditions)-1]
}

// selector returns the selector of a path.
func (w *pathWalk) selector(conditions []condition) Selector {
	if len(conditions) == 0 {
		return nil
	}
	selector := make(Selector, len(conditions))
	for i, a := range conditions {
		key := &w.domain.keys[a.key]
		r := Requirement{Key: key.name, Kind: a.kind}
		if a.kind == Is {
			r.Value = key.values[a.value]
		}
		if len(a.not) > 0 {
			r.Not = w.notNames(key, a.not)
		}
		selector[i] = r
	}
	slices.SortFunc(selector, func(a, b Requirement) int { return cmp.Compare(a.Key, b.Key) })
	return selector
}

// notNames returns the names of excluded values. Paths share lists of values, so rules
// share the names: thousands of rules may exclude the same thousands of values.
func (w *pathWalk) notNames(key *domainKey, not []uint32) []string {
	if names, ok := w.names[&not[0]]; ok {
		return names
	}
	names := make([]string, len(not))
	for i, value := range not {
		names[i] = key.values[value]
	}
	slices.Sort(names)
	w.names[&not[0]] = names
	return names
}
