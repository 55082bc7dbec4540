package partition

type booleanOperation uint8

const (
	conjunction booleanOperation = iota
	disjunction
	difference
)

// and, or and without (x AND NOT y) combine diagrams of predicates. The cost of each is
// at most the product of the two sizes, because of the memo.
func (b *builder) and(x, y *node) *node     { return b.apply(conjunction, x, y) }
func (b *builder) or(x, y *node) *node      { return b.apply(disjunction, x, y) }
func (b *builder) without(x, y *node) *node { return b.apply(difference, x, y) }

func (b *builder) apply(operation booleanOperation, x, y *node) *node {
	no, yes := b.truth(false), b.truth(true)
	switch operation {
	case conjunction:
		switch {
		case x == no || y == no:
			return no
		case x == yes || x == y:
			return y
		case y == yes:
			return x
		}
	case disjunction:
		switch {
		case x == yes || y == yes:
			return yes
		case x == no || x == y:
			return y
		case y == no:
			return x
		}
	case difference:
		switch {
		case x == no || y == yes || x == y:
			return no
		case y == no:
			return x
		}
	}
	if operation != difference && x.id > y.id {
		x, y = y, x
	}
	if b.boolean[operation] == nil {
		b.boolean[operation] = make(pairs)
	}
	return b.combine(b.boolean[operation], x, y, func(x, y *node) *node { return b.apply(operation, x, y) })
}

// compile returns the diagram of a declared predicate.
func (b *builder) compile(p Predicate) *node {
	no, yes := b.truth(false), b.truth(true)
	member := func(i int) *node { return b.compile(p.members[i]) }
	switch p.op {
	case OpEqual:
		k := b.index[p.key]
		return b.node(k, no, no, []edge{{b.keys[k].index[p.value], yes}})
	case OpPresent:
		return b.node(b.index[p.key], yes, no, nil)
	case OpNot:
		return b.without(yes, b.compile(p.members[0]))
	case OpOr:
		return b.fold(len(p.members), member, b.or, no)
	default:
		return b.fold(len(p.members), member, b.and, yes)
	}
}

// fold combines n diagrams in pairs, then in pairs of pairs. So an OR of a
// thousand values of one key copies each edge ten times, not five hundred times.
func (b *builder) fold(n int, diagram func(i int) *node, combine func(x, y *node) *node, neutral *node) *node {
	switch n {
	case 0:
		return neutral
	case 1:
		return diagram(0)
	}
	half := n / 2
	upper := func(i int) *node { return diagram(half + i) }
	return combine(b.fold(half, diagram, combine, neutral), b.fold(n-half, upper, combine, neutral))
}
