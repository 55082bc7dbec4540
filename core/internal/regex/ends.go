package regex

import "slices"

// withoutEnd returns an expression with the matches of e that does not assert
// an end of text. Use it only where the end of a part of a text must follow,
// such as the end of a path before its query.
func withoutEnd(e *Expr) *Expr { return alternate(split(e)) }

// split divides the matches of an expression into matches that do not assert an
// end of text and matches that do. The latter are at the end of the text,
// because no byte can be consumed after it, so the assertion itself can be
// omitted.
func split(e *Expr) (inside, atEnd *Expr) {
	if !e.assertsEnd {
		return e, never
	}
	switch e.op {
	case opEnd:
		return never, empty
	case opLineEnd:
		return e, empty // inside: before a line break
	case opAlternate:
		insides, ends := make([]*Expr, len(e.subs)), make([]*Expr, len(e.subs))
		for i, sub := range e.subs {
			insides[i], ends[i] = split(sub)
		}
		return alternate(insides...), alternate(ends...)
	case opConcat:
		// Halving makes the output for a thousand ends of text n log n, not
		// quadratic.
		half := len(e.subs) / 2
		left, right := concat(e.subs[:half]...), concat(e.subs[half:]...)
		leftInside, leftAtEnd := split(left)
		rightInside, rightAtEnd := split(right)
		return concat(leftInside, rightInside),
			alternate(concat(leftAtEnd, atEndOfText(right)), concat(leftInside, rightAtEnd))
	}
	sub := e.subs[0] // of opRepeat
	switch {
	case e.min == 0 && e.max == 1:
		inside, atEnd = split(sub)
		return repeat(inside, 0, 1), atEnd
	case e.max < 0 && e.min <= 1:
		inside, atEnd = split(sub)
		return repeat(inside, e.min, -1), concat(repeat(inside, 0, -1), atEnd)
	}
	return split(expanded(e))
}

// expanded writes out the copies of a repetition.
func expanded(e *Expr) *Expr {
	var copies []*Expr
	for range e.min {
		copies = append(copies, e.subs[0])
	}
	if e.max < 0 {
		return concat(append(copies, repeat(e.subs[0], 0, -1))...)
	}
	for range e.max - e.min {
		copies = append(copies, repeat(e.subs[0], 0, 1))
	}
	return concat(copies...)
}

// atEndOfText returns the rest of an expression at the end of a text. There it
// cannot consume a byte, and every assertion of an end of text holds. The other
// assertions remain: for \b and \B the end of a text is the same as a byte that
// is not a letter, and the others look back.
func atEndOfText(e *Expr) *Expr {
	return emptyWith(e, func(e *Expr) *Expr {
		if e.op == opEnd || e.op == opLineEnd {
			return empty
		}
		return e
	})
}

// reversed returns the expression of the reversed texts. It does not reverse
// the bytes of non-ASCII characters. Reversing twice returns the original
// expression.
func reversed(e *Expr) *Expr {
	switch opposite, swapped := opposites[e.op]; {
	case swapped:
		return assertion(opposite)
	case len(e.subs) == 0:
		return e
	case e.op == opConcat:
		subs := make([]*Expr, len(e.subs))
		for i, sub := range e.subs {
			subs[len(subs)-1-i] = reversed(sub)
		}
		return concat(subs...)
	}
	return e.withSubs(reversed)
}

var opposites = map[op]op{opBegin: opEnd, opEnd: opBegin, opLineBegin: opLineEnd, opLineEnd: opLineBegin}

// notEndingIn returns the matches of an expression whose last byte is not in
// the set.
func notEndingIn(e *Expr, s set) *Expr {
	if !e.final.intersects(s) {
		return e
	}
	return alternate(endingOutside(e, s), emptyMatches(e))
}

// endingOutside returns the matches that consume at least one byte and whose
// last byte is not in the set.
func endingOutside(e *Expr, s set) *Expr {
	if !e.nullable && !e.final.intersects(s) {
		return e
	}
	switch e.op {
	case opSet:
		return ofSet(e.set.without(s))
	case opLiteral:
		return e
	case opAlternate:
		return e.withSubs(func(sub *Expr) *Expr { return endingOutside(sub, s) })
	case opRepeat:
		least, most := max(e.min-1, 0), max(e.max-1, -1)
		if e.subs[0].nullable {
			if e.min > 1 && !matchesEmpty(e.subs[0]) {
				return endingOutside(expanded(e), s)
			}
			least = 0
		}
		return concat(repeat(e.subs[0], least, most), endingOutside(e.subs[0], s))
	case opConcat:
		half := len(e.subs) / 2
		left, right := concat(e.subs[:half]...), concat(e.subs[half:]...)
		return alternate(concat(left, endingOutside(right, s)), concat(endingOutside(left, s), emptyMatches(right)))
	}
	return never
}

// matchesEmpty reports whether an expression that is nullable matches the empty
// text everywhere, not only at a word boundary.
func matchesEmpty(e *Expr) bool {
	e = emptyMatches(e)
	return e.op == opEmpty || e.op == opAlternate && slices.Contains(e.subs, empty)
}

// emptyMatches returns the matches that consume no byte.
func emptyMatches(e *Expr) *Expr {
	return emptyWith(e, func(assertion *Expr) *Expr { return assertion })
}

// emptyWith returns the matches that consume no byte, with each assertion replaced by the
// result of leaf.
func emptyWith(e *Expr, leaf func(*Expr) *Expr) *Expr {
	if !e.nullable {
		return never
	}
	switch {
	case len(e.subs) == 0:
		return leaf(e)
	case e.op != opRepeat:
		return e.withSubs(func(sub *Expr) *Expr { return emptyWith(sub, leaf) })
	case e.min == 0:
		return empty
	}
	return emptyWith(e.subs[0], leaf)
}
