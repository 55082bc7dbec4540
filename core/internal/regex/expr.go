package regex

import "slices"

// Expr is an expression. It is immutable; trees share nodes.
type Expr struct {
	op       op
	set      set     // of opSet
	literal  string  // of opLiteral: one non-ASCII character
	subs     []*Expr // of opConcat, opAlternate and opRepeat
	min, max int     // of opRepeat; max -1: no limit

	size         int  // of the program, with counts expanded; at most tooLarge
	nullable     bool // the empty text may match
	assertsBegin bool // contains a begin of text
	assertsEnd   bool // contains an end of text
	first, final set  // the bytes with which a match may begin or end
}

type op uint8

const (
	opNever op = iota
	opEmpty
	opSet
	opLiteral
	opConcat
	opAlternate
	opRepeat
	opBegin // of text
	opEnd
	opLineBegin
	opLineEnd
	opWord // a word boundary
	opNotWord
)

const tooLarge = 1 << 30

var (
	never   = &Expr{op: opNever, size: 1}
	empty   = assertion(opEmpty)
	newline = func() set { s := set{}; s.add('\n'); return s }()
)

func assertion(o op) *Expr {
	return &Expr{
		op: o, size: 1, nullable: true,
		assertsBegin: o == opBegin || o == opLineBegin, assertsEnd: o == opEnd || o == opLineEnd,
	}
}

func ofSet(s set) *Expr {
	if s.empty() {
		return never
	}
	return &Expr{op: opSet, set: s, size: 1, first: s, final: s}
}

func ofLiteral(text string) *Expr {
	beyond := set{beyond: true}
	return &Expr{op: opLiteral, literal: text, size: len(text), first: beyond, final: beyond}
}

func concat(subs ...*Expr) *Expr {
	flat := make([]*Expr, 0, len(subs))
	for _, sub := range subs {
		switch sub.op {
		case opNever:
			return never
		case opEmpty:
		case opConcat:
			flat = append(flat, sub.subs...)
		default:
			flat = append(flat, sub)
		}
	}
	switch len(flat) {
	case 0:
		return empty
	case 1:
		return flat[0]
	}
	e := &Expr{op: opConcat, subs: flat, nullable: true}
	for _, sub := range flat {
		e.include(sub)
		if e.nullable {
			e.first.union(sub.first)
		}
		e.nullable = e.nullable && sub.nullable
	}
	for _, sub := range slices.Backward(flat) {
		e.final.union(sub.final)
		if !sub.nullable {
			break
		}
	}
	return e
}

func alternate(subs ...*Expr) *Expr {
	flat := make([]*Expr, 0, len(subs))
	for _, sub := range subs {
		switch sub.op {
		case opNever:
		case opAlternate:
			flat = append(flat, sub.subs...)
		default:
			flat = append(flat, sub)
		}
	}
	switch len(flat) {
	case 0:
		return never
	case 1:
		return flat[0]
	}
	e := &Expr{op: opAlternate, subs: flat, size: len(flat)}
	for _, sub := range flat {
		e.include(sub)
		e.nullable = e.nullable || sub.nullable
		e.first.union(sub.first)
		e.final.union(sub.final)
	}
	return e
}

func repeat(sub *Expr, least, most int) *Expr {
	switch {
	case most == 0 || sub.op == opEmpty:
		return empty
	case sub.op == opNever && least > 0:
		return never
	case sub.op == opNever:
		return empty
	case least == 1 && most == 1:
		return sub
	}
	e := &Expr{op: opRepeat, subs: []*Expr{sub}, min: least, max: most, nullable: least == 0 || sub.nullable, first: sub.first, final: sub.final}
	e.include(sub)
	if copies := max(least, most, 1); e.size > tooLarge/copies {
		e.size = tooLarge
	} else {
		e.size = e.size*copies + copies
	}
	return e
}

// withSubs returns a concatenation, an alternation or a repetition with each part
// replaced by the result of a function.
func (e *Expr) withSubs(of func(*Expr) *Expr) *Expr {
	subs := make([]*Expr, len(e.subs))
	for i, sub := range e.subs {
		subs[i] = of(sub)
	}
	switch e.op {
	case opConcat:
		return concat(subs...)
	case opAlternate:
		return alternate(subs...)
	}
	return repeat(subs[0], e.min, e.max)
}

func (e *Expr) include(sub *Expr) {
	e.size = min(e.size+sub.size, tooLarge)
	e.assertsBegin = e.assertsBegin || sub.assertsBegin
	e.assertsEnd = e.assertsEnd || sub.assertsEnd
}
