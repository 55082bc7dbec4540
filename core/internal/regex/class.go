package regex

import (
	"regexp/syntax"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// class reads a class after its opening bracket.
func (p *parser) class() set {
	negated := p.accept("^")
	var all set
	for first := true; first || !p.accept("]"); first = false {
		if p.failed {
			return set{}
		}
		if s, ok := p.posixClass(); ok {
			all.union(s)
			continue
		}
		if strings.HasPrefix(p.rest, `\`) {
			p.rest = p.rest[1:]
			if s, ok := p.perlClass(); ok {
				all.union(s)
				continue
			}
			p.rest = `\` + p.rest
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
	switch c {
	case 'a':
		return '\a'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'v':
		return '\v'
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

// perlClass reads \d, \pL and the like after the backslash.
func (p *parser) perlClass() (s set, ok bool) {
	if p.rest == "" {
		return s, false
	}
	name, upper := p.rest[0], false
	if name == 'D' || name == 'S' || name == 'W' || name == 'P' {
		name, upper = name+('a'-'A'), true
	}
	switch name {
	case 'd':
		s.addRange('0', '9')
	case 's':
		for _, c := range "\t\n\f\r " {
			s.add(byte(c))
		}
	case 'w':
		s = word()
		if p.fold { // s and k fold to characters beyond ASCII
			s.some = true
		}
	case 'p':
		p.rest = p.rest[1:]
		group := p.rest[:min(1, len(p.rest))]
		if p.accept("{") {
			group, p.rest, _ = strings.Cut(p.rest, "}")
		} else {
			_ = p.next()
		}
		return p.unicodeClass(group, upper), true
	default:
		return s, false
	}
	p.rest = p.rest[1:]
	if upper {
		s = s.negated()
	}
	return s, true
}

func word() set {
	var s set
	s.addRange('0', '9')
	s.addRange('A', 'Z')
	s.addRange('a', 'z')
	s.add('_')
	return s
}

// posixClass reads [:alpha:] and the like inside of a class.
func (p *parser) posixClass() (s set, ok bool) {
	if !strings.HasPrefix(p.rest, "[:") {
		return s, false
	}
	name, rest, closed := strings.Cut(p.rest[2:], ":]")
	if !closed {
		return s, false
	}
	name, negated := strings.CutPrefix(name, "^")
	in, known := posix[name]
	if !known {
		return s, false
	}
	for c := range rune(asciiEnd) {
		if in(c) {
			s.add(byte(c))
		}
	}
	if p.fold {
		s = s.folded()
		s.some = s.has('s') || s.has('k')
	}
	if negated {
		s = s.negated()
	}
	p.rest = rest
	return s, true
}

var posix = map[string]func(rune) bool{
	"alnum": func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) },
	"alpha": unicode.IsLetter,
	"ascii": func(rune) bool { return true },
	"blank": func(c rune) bool { return c == ' ' || c == '\t' },
	"cntrl": unicode.IsControl,
	"digit": unicode.IsDigit,
	"graph": func(c rune) bool { return '!' <= c && c <= '~' },
	"lower": unicode.IsLower,
	"print": func(c rune) bool { return ' ' <= c && c <= '~' },
	"punct": func(c rune) bool { return '!' <= c && c <= '~' && !unicode.IsLetter(c) && !unicode.IsDigit(c) },
	"space": func(c rune) bool { return c == ' ' || '\t' <= c && c <= '\r' },
	"upper": unicode.IsUpper,
	"word":  func(c rune) bool { s := word(); return s.has(byte(c)) },
	"xdigit": func(c rune) bool {
		return unicode.IsDigit(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
	},
}

// groups holds the classes of Unicode that were read. Package syntax takes 40
// microseconds for one, as it sorts hundreds of ranges; there are about 300,
// and names are found in any letter case, and with any blanks in them.
var groups sync.Map // of set by name and case

// unicodeClass returns the class of a Unicode group.
func (p *parser) unicodeClass(name string, negated bool) set {
	inverted, name := strings.HasPrefix(name, "^"), strings.TrimPrefix(name, "^")
	key := name
	if len(name) > 1 {
		key = strings.ToLower(strings.NewReplacer(" ", "", "-", "", "_", "").Replace(name))
	}
	if p.fold {
		key += "/i"
	}
	known, ok := groups.Load(key)
	if !ok {
		flags := syntax.Perl
		if p.fold {
			flags |= syntax.FoldCase
		}
		tree, err := syntax.Parse(`[\p{`+name+`}]`, flags)
		if err != nil {
			p.fail()
			return set{}
		}
		known, _ = groups.LoadOrStore(key, setOf(tree))
	}
	s := known.(set)
	if inverted != negated {
		s = s.negated()
	}
	return s
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
