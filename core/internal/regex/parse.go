package regex

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ErrSyntax indicates that an expression is not one of RE2's syntax.
var ErrSyntax = errors.New("not a regular expression")

// maxDepth is how deep groups may nest; package regexp has the same limit.
const maxDepth = 1000

// Parse reads an expression. It accepts every expression that regexp.Compile
// accepts, and some others; compile the expression too to validate it.
func Parse(expression string) (*Expr, error) {
	p := parser{rest: expression}
	e := p.alternatives()
	if p.failed || p.rest != "" {
		return nil, ErrSyntax
	}
	return e, nil
}

// MustParse is Parse of an expression that passed validation. It panics if there
// is an error.
func MustParse(expression string) *Expr {
	e, err := Parse(expression)
	if err != nil {
		panic(fmt.Sprintf("regex: %q: %v", expression, err))
	}
	return e
}

type parser struct {
	rest    string
	depth   int
	failed  bool
	fold    bool // (?i)
	lines   bool // (?m)
	newline bool // (?s): a dot matches a line break
}

func (p *parser) fail() *Expr {
	p.failed = true
	p.rest = ""
	return never
}

func (p *parser) accept(prefix string) bool {
	rest, ok := strings.CutPrefix(p.rest, prefix)
	if ok {
		p.rest = rest
	}
	return ok
}

func (p *parser) next() rune {
	c, n := utf8.DecodeRuneInString(p.rest)
	if n == 0 {
		p.fail()
	}
	p.rest = p.rest[min(n, len(p.rest)):]
	return c
}

// alternatives reads up to the end of a group. Flags that are set in it end
// with it.
func (p *parser) alternatives() *Expr {
	if p.depth++; p.depth > maxDepth {
		return p.fail()
	}
	fold, lines, newline := p.fold, p.lines, p.newline
	var all []*Expr
	for {
		all = append(all, p.sequence())
		if !p.accept("|") {
			break
		}
	}
	p.depth--
	p.fold, p.lines, p.newline = fold, lines, newline
	return alternate(all...)
}

func (p *parser) sequence() *Expr {
	var all []*Expr
	for p.rest != "" && p.rest[0] != '|' && p.rest[0] != ')' {
		if p.accept(`\Q`) {
			quoted, rest, _ := strings.Cut(p.rest, `\E`)
			p.rest = rest
			for _, c := range quoted {
				all = append(all, p.character(c))
			}
		} else if e := p.atom(); e != nil {
			all = append(all, e)
		}
		// A count after an empty quotation or after flags repeats what is before them.
		for last := len(all) - 1; last >= 0 && !p.failed; {
			least, most, ok := p.count()
			if !ok {
				break
			}
			all[last] = repeat(all[last], least, most)
		}
	}
	return concat(all...)
}

// count reads a repetition, if there is one.
func (p *parser) count() (least, most int, ok bool) {
	switch {
	case p.accept("*"):
		least, most = 0, -1
	case p.accept("+"):
		least, most = 1, -1
	case p.accept("?"):
		least, most = 0, 1
	default:
		body, rest, closed := strings.Cut(strings.TrimPrefix(p.rest, "{"), "}")
		if !strings.HasPrefix(p.rest, "{") || !closed {
			return 0, 0, false
		}
		from, to, comma := strings.Cut(body, ",")
		if least, ok = number(from); !ok {
			return 0, 0, false // a brace is a character then
		}
		if most = least; comma && to == "" {
			most = -1
		} else if comma {
			if most, ok = number(to); !ok {
				return 0, 0, false
			}
		}
		p.rest = rest
	}
	p.accept("?") // matches the same texts
	return least, most, true
}

// number reads a decimal number, which has no leading zeros.
func number(digits string) (n int, ok bool) {
	n, err := strconv.Atoi(digits)
	return n, err == nil && strconv.Itoa(n) == digits && n >= 0
}

// atom reads a character, a class, an assertion or a group. It returns nil for
// flags without a group.
func (p *parser) atom() *Expr {
	if s, ok := p.named(`\`); ok {
		return ofSet(s)
	}
	switch c := p.next(); c {
	case '(':
		return p.group()
	case '[':
		return ofSet(p.class())
	case '.':
		any := set{}.negated()
		if !p.newline {
			any = any.without(newline)
		}
		return ofSet(any)
	case '^':
		if p.lines {
			return assertion(opLineBegin)
		}
		return assertion(opBegin)
	case '$':
		if p.lines {
			return assertion(opLineEnd)
		}
		return assertion(opEnd)
	case '\\':
		return p.escape()
	default:
		return p.character(c)
	}
}

// group reads what follows an opening parenthesis. Flags without a group apply
// to the rest of the group that they are in, and are no expression: group
// returns nil.
func (p *parser) group() *Expr {
	fold, lines, newline := p.fold, p.lines, p.newline
	switch {
	case p.accept("?P<"), p.accept("?<"):
		_, p.rest, _ = strings.Cut(p.rest, ">")
	case p.accept("?"):
		on := true
		for {
			switch p.next() {
			case 'i':
				p.fold = on
			case 'm':
				p.lines = on
			case 's':
				p.newline = on
			case 'U':
			case '-':
				on = false
			case ')':
				return nil
			case ':':
				return p.closed(fold, lines, newline)
			default:
				return p.fail()
			}
		}
	}
	return p.closed(fold, lines, newline)
}

func (p *parser) closed(fold, lines, newline bool) *Expr {
	e := p.alternatives()
	if !p.accept(")") {
		return p.fail()
	}
	p.fold, p.lines, p.newline = fold, lines, newline
	return e
}

// character returns the expression of a character, in both cases under (?i).
func (p *parser) character(c rune) *Expr {
	if c < asciiEnd {
		s := set{}
		s.add(byte(c))
		if p.fold {
			s = s.folded()
		}
		return ofSet(s)
	}
	all := []*Expr{ofLiteral(string(c))}
	for f := unicode.SimpleFold(c); p.fold && f != c; f = unicode.SimpleFold(f) {
		if f < asciiEnd {
			s := set{}
			s.add(byte(f))
			all = append(all, ofSet(s))
		} else {
			all = append(all, ofLiteral(string(f)))
		}
	}
	return alternate(all...)
}

func (p *parser) escape() *Expr {
	switch {
	case p.accept("A"):
		return assertion(opBegin)
	case p.accept("z"):
		return assertion(opEnd)
	case p.accept("b"):
		return assertion(opWord)
	case p.accept("B"):
		return assertion(opNotWord)
	}
	return p.character(p.escaped())
}
