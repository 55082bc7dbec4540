package solver

import (
	"fmt"
	"regexp/syntax"
	"strings"
)

// The operators of formulas and of languages of texts, in SMT-LIB.

func and(f ...string) string { return join("and", "true", f) }
func or(f ...string) string  { return join("or", "false", f) }
func not(f string) string    { return "(not " + f + ")" }

func union(l ...string) string         { return join("re.union", "re.none", l) }
func concatenation(l ...string) string { return join("re.++", `(str.to_re "")`, l) }
func star(l string) string             { return "(re.* " + l + ")" }
func plus(l string) string             { return "(re.+ " + l + ")" }
func opt(l string) string              { return "(re.opt " + l + ")" }
func text(s string) string             { return "(str.to_re " + quoted(s) + ")" }

func join(operator, none string, of []string) string {
	if len(of) == 0 {
		return none
	}
	if len(of) == 1 && !strings.Contains(of[0], " ") {
		return of[0]
	}
	if len(of) == 1 && operator != "and" && operator != "or" {
		return of[0]
	}
	return "(" + operator + " " + strings.Join(of, " ") + ")"
}

const anything = "re.all"

var notASCII = span(0x80, 0xff)

// quoted returns a literal. Characters that have a meaning in one are escaped.
func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\' || c < ' ' || c > '~':
			fmt.Fprintf(&b, `\u{%x}`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func span(from, to rune) string {
	return fmt.Sprintf(`(re.range "\u{%x}" "\u{%x}")`, from, to)
}

// class returns the language of single characters: ranges, such as a-z, and others. A hyphen
// at the end is itself.
func class(s string) string {
	var parts []string
	for i := 0; i < len(s); i++ {
		if i+2 < len(s) && s[i+1] == '-' {
			parts = append(parts, span(rune(s[i]), rune(s[i+2])))
			i += 2
			continue
		}
		parts = append(parts, span(rune(s[i]), rune(s[i])))
	}
	return union(parts...)
}

// expression returns the texts that an expression of a policy matches as a whole. A dot and a
// class with all characters outside ASCII match one byte (SPEC 7.2). It panics at what the
// meshes of this package do not have.
func expression(source string) string {
	re, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		panic(err)
	}
	return languageOf(re)
}

func languageOf(re *syntax.Regexp) string {
	var parts []string
	for _, sub := range re.Sub {
		parts = append(parts, languageOf(sub))
	}
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginText, syntax.OpEndText:
		return text("")
	case syntax.OpNoMatch:
		return "re.none"
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			return text(string(re.Rune))
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL: // no text has a line break
		return span(0, 0xff)
	case syntax.OpCharClass:
		return classOf(re.Rune)
	case syntax.OpCapture, syntax.OpConcat:
		return concatenation(parts...)
	case syntax.OpAlternate:
		return union(parts...)
	case syntax.OpStar:
		return star(parts[0])
	case syntax.OpPlus:
		return plus(parts[0])
	case syntax.OpQuest:
		return opt(parts[0])
	case syntax.OpRepeat:
		if re.Max < 0 {
			return concatenation(fmt.Sprintf("((_ re.loop %d %d) %s)", re.Min, re.Min, parts[0]), star(parts[0]))
		}
		return fmt.Sprintf("((_ re.loop %d %d) %s)", re.Min, re.Max, parts[0])
	}
	panic(fmt.Sprintf("solver: %q is not translated", re))
}

func classOf(ranges []rune) string {
	var parts []string
	for i := 0; i < len(ranges); i += 2 {
		from, to := ranges[i], ranges[i+1]
		if from <= 0x7f {
			parts = append(parts, span(from, min(to, 0x7f)))
		}
		switch {
		case to == 0x10ffff && from <= 0x80:
			parts = append(parts, notASCII)
		case to > 0x7f:
			panic(fmt.Sprintf("solver: a class has some characters outside ASCII: %x", ranges))
		}
	}
	return union(parts...)
}
