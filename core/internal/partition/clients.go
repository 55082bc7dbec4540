package partition

import "slices"

// Clients is the set of clients that a predicate accepts. It is immutable and
// safe for concurrent use. The zero Clients are none.
type Clients struct {
	domain *domain
	root   *node // keys ascend by name; terminals 0 and 1
	form   Predicate
}

// Canonicalize returns the set of clients that p accepts. The only error is a
// [*LimitError]; its item 0 is p.
func Canonicalize(p Predicate, limits Limits) (Clients, error) {
	b, roots := compileByName([]Predicate{p}, limits)
	set := b.set(roots[0])
	if err := b.err(splitting(roots), b.names()); err != nil {
		return Clients{}, err
	}
	return set, nil
}

// Predicate returns the canonical form. Predicates that accept the same clients
// have the same canonical form, with the same [Predicate.String] (SPEC 9.2).
func (s Clients) Predicate() Predicate {
	if s.root == nil {
		return False()
	}
	return s.form
}

// A Dependency describes, for one key, how it decides whether a client is in a
// [Clients].
type Dependency struct {
	Key string
	// Values are the values whose result may differ from the result for all other
	// values, by name.
	Values []string
	// Presence reports whether the result for a value that is not in Values may
	// differ from the result without the key.
	Presence bool
}

// Dependencies returns the keys that decide whether a client is in the set, by
// name. A predicate may name other keys, which make no difference (SPEC 9.3).
func (s Clients) Dependencies() []Dependency {
	if s.root == nil {
		return nil
	}
	values := make([]map[uint32]bool, len(s.domain.keys))
	presence := make([]bool, len(s.domain.keys))
	visit(s.root, make(map[*node]bool), func(n *node) {
		if values[n.key] == nil {
			values[n.key] = make(map[uint32]bool)
		}
		for _, e := range n.edges {
			values[n.key][e.value] = true
		}
		presence[n.key] = presence[n.key] || n.other != n.absent
	})
	var list []Dependency
	for k := range values {
		if values[k] == nil {
			continue
		}
		key := &s.domain.keys[k]
		d := Dependency{Key: key.name, Presence: presence[k]}
		for value := range values[k] {
			d.Values = append(d.Values, key.values[value])
		}
		slices.Sort(d.Values)
		list = append(list, d)
	}
	return list
}

// visit calls f once for every node that is not a terminal.
func visit(n *node, seen map[*node]bool, f func(n *node)) {
	if n.isTerminal() || seen[n] {
		return
	}
	seen[n] = true
	f(n)
	visit(n.other, seen, f)
	visit(n.absent, seen, f)
	for _, e := range n.edges {
		visit(e.child, seen, f)
	}
}

// Contains reports whether the client, a map from key to value, is in the set.
// It reads each key at most once and does not allocate.
func (s Clients) Contains(client map[string]string) bool {
	return s.root != nil && s.domain.walk(s.root, client).number == 1
}

// Witness returns a client of the set, or false if the set is empty. It goes through
// the keys in ascending order and leaves out each key that some remaining client of
// the set does not have. The same set has the same witness, except for invented
// values: a value that the predicate does not mention is "other" or begins with
// "other".
func (s Clients) Witness() (client map[string]string, ok bool) {
	if s.root == nil {
		return nil, false
	}
	return s.domain.clientAt(s.root, isOne)
}

// Equivalent reports whether p and q accept the same clients (SPEC 9.2). The
// only error is a [*LimitError].
func Equivalent(p, q Predicate, limits Limits) (bool, error) {
	b, roots := compileByName([]Predicate{p, q}, limits)
	return roots[0] == roots[1], b.err(splitting(roots), b.names())
}

// compileByName compiles predicates over keys that are ordered by name. This makes a
// diagram a function of the accepted clients alone.
func compileByName(predicates []Predicate, limits Limits) (*builder, []*node) {
	d := &domain{}
	for _, p := range predicates {
		d.declare(p)
	}
	b := newBuilder(d.byName(), limits)
	roots := make([]*node, len(predicates))
	for i, p := range predicates {
		roots[i] = b.compile(p)
	}
	return b, roots
}
