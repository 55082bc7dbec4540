package regex

import (
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"sync"
)

// class reads a class after its opening bracket.
func (p *parser) class() set {
	negated := p.accept("^")
	var all set
	for first := true; first || !p.accept("]"); first = false {
		if p.failed {
			return set{}
		}
		s, ok := p.named(`\`)
		if !ok {
			s, ok = p.named("[:")
		}
		if ok {
			all.union(s)
			continue
		}
		low := p.member()
		high := low
		if len(p.rest) > 1 && p.rest[0] == '-' && p.rest[1] != ']' {
			p.rest = p.rest[1:]
			high = p.member()
		}
		p.addFolded(&all, low, high)
	}
	if negated {
		return all.negated()
	}
	return all
}

func (p *parser) member() rune {
	if p.accept(`\`) {
		return p.escaped()
	}
	return p.next()
}

// addFolded adds a range, under (?i) with the other cases of its letters.
func (p *parser) addFolded(s *set, low, high rune) {
	var added set
	added.addRange(low, high)
	if p.fold {
		const longS, kelvin = 'ſ', 'K' // whose other cases are s and k
		if low <= longS && longS <= high {
			added.add('s')
		}
		if low <= kelvin && kelvin <= high {
			added.add('k')
		}
		added = added.folded()
		added.some = added.some || added.has('s') || added.has('k')
	}
	s.union(added)
}

// escaped reads the character that follows a backslash.
func (p *parser) escaped() rune {
	c := p.next()
	if i := strings.IndexRune("afnrtv", c); i >= 0 {
		return rune("\a\f\n\r\t\v"[i])
	}
	switch c {
	case 'x':
		digits := ""
		if p.accept("{") {
			digits, p.rest, _ = strings.Cut(p.rest, "}")
		} else if len(p.rest) >= 2 {
			digits, p.rest = p.rest[:2], p.rest[2:]
		}
		n, err := strconv.ParseUint(digits, 16, 32)
		if err != nil || n > maxRune {
			p.fail()
		}
		return rune(n)
	case '0', '1', '2', '3', '4', '5', '6', '7':
		n := c - '0'
		for i := 1; i < 3 && p.rest != "" && '0' <= p.rest[0] && p.rest[0] <= '7'; i++ {
			n = n*8 + rune(p.rest[0]-'0')
			p.rest = p.rest[1:]
		}
		return n
	}
	return c
}

// namedClass matches a class with a name: \d, \pL, \p{Greek} or, in brackets, [:alpha:].
var namedClass = regexp.MustCompile(`^(?:\\[dswDSW]|\\[pP](?:[^{]|\{[^}]*\})|\[:\^?[a-z]+:\])`)

// namedSets holds the sets of the names that were read. Package syntax takes up to 40
// microseconds for one, as it sorts hundreds of ranges; there are about 300, and those in
// braces are found in any letter case, and with any blanks in them.
var namedSets sync.Map // of set by name and case

var blanks = strings.NewReplacer(" ", "", "-", "", "_", "")

// named reads a class with a name, if there is one that begins with the given text.
func (p *parser) named(begin string) (s set, ok bool) {
	if !strings.HasPrefix(p.rest, begin) {
		return s, false
	}
	name := namedClass.FindString(p.rest)
	if name == "" {
		return s, false
	}
	p.rest = p.rest[len(name):]
	key, flags := name, syntax.Perl
	if len(name) > len(`\p{L}`) {
		key = name[:2] + strings.ToLower(blanks.Replace(name[2:]))
	}
	if p.fold {
		key, flags = key+"/i", flags|syntax.FoldCase
	}
	known, found := namedSets.Load(key)
	if !found {
		tree, err := syntax.Parse("["+name+"]", flags)
		if err != nil {
			p.fail()
			return s, true
		}
		known, _ = namedSets.LoadOrStore(key, setOf(tree))
	}
	return known.(set), true
}

// setOf returns the set that a parsed class has become.
func setOf(tree *syntax.Regexp) (s set) {
	switch tree.Op {
	case syntax.OpCharClass:
		for i := 0; i < len(tree.Rune); i += 2 {
			s.addRange(tree.Rune[i], tree.Rune[i+1])
		}
	case syntax.OpLiteral:
		s.addRange(tree.Rune[0], tree.Rune[0])
	case syntax.OpAnyChar:
		s = set{}.negated()
	case syntax.OpAnyCharNotNL:
		s = set{}.negated().without(newline)
	}
	return s
}
