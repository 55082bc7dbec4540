package naive

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"
)

// wholly reports whether a regular expression matches a whole text, which is compared byte
// by byte (SPEC 7.2).
func wholly(expression, text string) bool {
	tree, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		panic(fmt.Sprintf("naive: a bad regular expression was loaded: %v", err))
	}
	return regexp.MustCompile(`^(?:` + bytewise(tree) + `)$`).MatchString(byteByByte(text))
}

// byteByByte returns a text with one character for each byte.
func byteByByte(text string) string {
	var out []rune
	for _, b := range []byte(text) {
		out = append(out, rune(b))
	}
	return string(out)
}

// bytewise returns an expression for texts with one character for each byte. A literal, and
// a class with at most 16 characters outside ASCII, matches their UTF-8 encodings; a class
// that contains all of these characters matches one byte, and any other one matches none of
// them.
func bytewise(tree *syntax.Regexp) string {
	switch tree.Op {
	case syntax.OpLiteral:
		text := ""
		for _, c := range tree.Rune {
			text += oneOf(casesOf(c, tree.Flags&syntax.FoldCase != 0))
		}
		return "(?:" + text + ")"
	case syntax.OpCharClass:
		return classOf(tree.Rune)
	}
	if len(tree.Sub) == 0 {
		return tree.String()
	}
	var subs []string
	for _, sub := range tree.Sub {
		subs = append(subs, bytewise(sub))
	}
	switch tree.Op {
	case syntax.OpConcat:
		return "(?:" + strings.Join(subs, "") + ")"
	case syntax.OpAlternate:
		return "(?:" + strings.Join(subs, "|") + ")"
	case syntax.OpStar:
		return "(?:" + subs[0] + ")*"
	case syntax.OpPlus:
		return "(?:" + subs[0] + ")+"
	case syntax.OpQuest:
		return "(?:" + subs[0] + ")?"
	case syntax.OpRepeat:
		most := fmt.Sprint(tree.Max)
		if tree.Max < 0 {
			most = ""
		}
		return fmt.Sprintf("(?:%s){%d,%s}", subs[0], tree.Min, most)
	}
	return "(?:" + subs[0] + ")" // a group
}

// casesOf returns a character, with every case of it if fold is set.
func casesOf(c rune, fold bool) []rune {
	cases := []rune{c}
	for other := unicode.SimpleFold(c); fold && other != c; other = unicode.SimpleFold(other) {
		cases = append(cases, other)
	}
	return cases
}

// oneOf returns an expression for the encodings of some characters.
func oneOf(characters []rune) string {
	var alternatives []string
	for _, c := range characters {
		alternatives = append(alternatives, regexp.QuoteMeta(byteByByte(string(c))))
	}
	return "(?:" + strings.Join(alternatives, "|") + ")"
}

// classOf returns the expression of a class, which is given as the bounds of its ranges.
func classOf(bounds []rune) string {
	const firstOutside = 0x80
	var characters, outside []rune
	all := false
	for i := 0; i < len(bounds); i += 2 {
		low, high := bounds[i], bounds[i+1]
		for c := low; c <= high && c < firstOutside; c++ {
			characters = append(characters, c)
		}
		all = all || low <= firstOutside && high == unicode.MaxRune
		for c := max(low, firstOutside); c <= high && len(outside) <= 16; c++ {
			outside = append(outside, c)
		}
	}
	if !all && len(outside) <= 16 {
		characters = append(characters, outside...)
	}
	switch {
	case all && len(characters) == 0:
		return anyByteOutside
	case all:
		return "(?:" + oneOf(characters) + "|" + anyByteOutside + ")"
	case len(characters) == 0:
		return `[^\x00-\x{10FFFF}]` // nothing
	}
	return oneOf(characters)
}

const anyByteOutside = `[\x{80}-\x{ff}]`
