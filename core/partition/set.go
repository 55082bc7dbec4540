package partition

// A Set is the clients that a predicate accepts. It is immutable and safe for
// concurrent use. The zero Set is empty.
type Set struct {
	domain *domain
	root   *node // keys ascend by name; terminals 0 and 1
	form   Predicate
}

// Canonicalize returns the set of clients that p accepts. The only error is a
// [*LimitError]; its item 0 is p.
func Canonicalize(p Predicate, limits Limits) (Set, error) {
	b, roots := compileByName([]Predicate{p}, limits)
	set := b.set(roots[0])
	if err := b.err(splitting(roots), b.names()); err != nil {
		return Set{}, err
	}
	return set, nil
}

// Predicate returns the canonical form: one and the same, as [Predicate.String]
// tells, for all predicates that accept the same clients (SPEC 9.2).
func (s Set) Predicate() Predicate {
	if s.root == nil {
		return False()
	}
	return s.form
}

// Keys returns the keys that decide whether a client is in the set, by name.
// A predicate may name others that make no difference (SPEC 9.3).
func (s Set) Keys() []string {
	if s.root == nil {
		return nil
	}
	asked := make([]bool, len(s.domain.keys))
	visit(s.root, make(map[*node]bool), func(n *node) { asked[n.key] = true })
	var names []string
	for k := range asked {
		if asked[k] {
			names = append(names, s.domain.keys[k].name)
		}
	}
	return names
}

// visit calls f once for every node that is no terminal.
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

// Contains tells whether the client, a map from key to value, is in the set.
// It asks each key at most once and does not allocate.
func (s Set) Contains(client map[string]string) bool {
	return s.root != nil && s.domain.walk(s.root, client).number == 1
}

// Witness returns a client of the set, or false if the set is empty. By
// ascending key, a key is left out if that still leads to a client of the set.
// The same set has the same witness, but for made-up names: where it takes a
// value that nobody mentions this is "other" or begins so.
func (s Set) Witness() (client map[string]string, ok bool) {
	if s.root == nil {
		return nil, false
	}
	return s.domain.witness(s.root)
}

// Equivalent tells whether p and q accept the same clients (SPEC 9.2). The
// only error is a [*LimitError].
func Equivalent(p, q Predicate, limits Limits) (bool, error) {
	b, roots := compileByName([]Predicate{p, q}, limits)
	return roots[0] == roots[1], b.err(splitting(roots), b.names())
}

// Overlap is a client that two predicates accept.
type Overlap struct {
	First, Second int // indexes, First < Second
	Witness       map[string]string
}

// FindOverlap returns a client that two of the predicates accept, or nil if
// they are disjoint (SPEC 9.3). Of several overlaps it is one with the smallest
// Second, and for this the smallest First. The only error is a [*LimitError].
func FindOverlap(predicates []Predicate, limits Limits) (*Overlap, error) {
	b, roots := compileByName(predicates, limits)
	union := b.truth(false)
	var overlap *Overlap
	for second, root := range roots {
		if b.and(union, root) == b.truth(false) {
			union = b.or(union, root)
			continue
		}
		for first := range second {
			if both := b.and(roots[first], root); both != b.truth(false) {
				witness, _ := b.witness(both)
				overlap = &Overlap{first, second, witness}
				break
			}
		}
		break
	}
	if err := b.err(splitting(roots), b.names()); err != nil {
		return nil, err
	}
	return overlap, nil
}

// FindUncovered returns a client that none of the predicates accepts, or nil
// if there is no such client (SPEC 9.3). The client without any key is an empty
// map, not nil. The only error is a [*LimitError].
func FindUncovered(predicates []Predicate, limits Limits) (witness map[string]string, err error) {
	b, roots := compileByName(predicates, limits)
	covered := b.fold(len(roots), func(i int) *node { return roots[i] }, b.or, b.truth(false))
	rest := b.without(b.truth(true), covered)
	if err := b.err(splitting(roots), b.names()); err != nil {
		return nil, err
	}
	witness, _ = b.witness(rest)
	return witness, nil
}

// compileByName compiles predicates over keys that are ordered by name. This
// makes a diagram a function of the accepted clients alone.
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
