package regex

import (
	"fmt"
	"strings"
)

// String returns the expression in RE2's syntax.
func (e *Expr) String() string {
	var b strings.Builder
	e.print(&b, inAlternate)
	return b.String()
}

// The place where an expression is printed. From inConcat on, an alternation
// needs a group; from inRepeat on, a sequence also needs one.
const (
	inAlternate = iota
	inConcat
	inRepeat
)

func (e *Expr) print(b *strings.Builder, where int) {
	switch e.op {
	case opNever:
		b.WriteString(`(?:x\A)`)
	case opEmpty:
		b.WriteString(`(?:)`)
	case opSet:
		switch lacks := e.set.negated(); lacks {
		case set{}:
			b.WriteString(`(?s:.)`)
		case newline:
			b.WriteByte('.')
		default:
			e.set.print(b)
		}
	case opLiteral:
		if where == inRepeat { // a repetition applies to all of its bytes
			b.WriteString("(?:" + e.literal + ")")
		} else {
			b.WriteString(e.literal)
		}
	case opConcat:
		grouped(b, where == inRepeat, func() {
			for _, sub := range e.subs {
				sub.print(b, inConcat)
			}
		})
	case opAlternate:
		grouped(b, where != inAlternate, func() {
			for i, sub := range e.subs {
				if i > 0 {
					b.WriteByte('|')
				}
				if sub.op != opEmpty {
					sub.print(b, inAlternate)
				}
			}
		})
	case opRepeat:
		grouped(b, where == inRepeat, func() {
			e.subs[0].print(b, inRepeat)
			printCount(b, e.min, e.max)
		})
	default:
		assertion := [...]string{opBegin: `\A`, opEnd: `\z`, opLineBegin: `(?m:^)`, opLineEnd: `(?m:$)`, opWord: `\b`, opNotWord: `\B`}[e.op]
		grouped(b, where == inRepeat, func() { b.WriteString(assertion) })
	}
}

func grouped(b *strings.Builder, group bool, print func()) {
	if group {
		b.WriteString("(?:")
	}
	print()
	if group {
		b.WriteByte(')')
	}
}

func printCount(b *strings.Builder, least, most int) {
	switch {
	case least == 0 && most < 0:
		b.WriteByte('*')
	case least == 1 && most < 0:
		b.WriteByte('+')
	case least == 0 && most == 1:
		b.WriteByte('?')
	case most < 0:
		fmt.Fprintf(b, "{%d,}", least)
	case most == least:
		fmt.Fprintf(b, "{%d}", least)
	default:
		fmt.Fprintf(b, "{%d,%d}", least, most)
	}
}
