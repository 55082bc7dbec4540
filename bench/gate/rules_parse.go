package gate

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/perf/benchunit"
)

// A lineForm is the form of the lines that begin with a certain word.
type lineForm struct {
	form  string // for errors
	words int
	parse func(*ruleParser)
}

var lineForms = map[string]lineForm{
	"ceiling": {"ceiling BENCHMARK UNIT LIMIT", 4, (*ruleParser).parseCeiling},
	"ratio":   {"ratio BENCHMARK / BENCHMARK UNIT <= NUMBER", 7, (*ruleParser).parseRatio},
	"slope":   {"slope BENCHMARK/N=* UNIT <= NUMBER", 5, (*ruleParser).parseSlope},
	"count":   {"count BENCHMARK NUMBER", 3, (*ruleParser).parseCount},
	"package": {"package IMPORT-PATH (or its end, or * for any)", 2, (*ruleParser).parsePackage},
}

// ParseRules reads a rule file; file names it in errors. All errors are
// reported together, each as file:line:column. A rule is a line of words; a word
// that begins with # begins a comment.
//
//	ceiling  BENCHMARK  UNIT  LIMIT
//	ratio    BENCHMARK / BENCHMARK  UNIT  <=  NUMBER
//	slope    BENCHMARK/N=*  UNIT  <=  NUMBER
//	count    BENCHMARK  NUMBER
//	package  IMPORT-PATH
//
// BENCHMARK is a name without "Benchmark" and without the suffix -GOMAXPROCS; a
// star matches any text between slashes. UNIT is as printed (ns/op) or tidied
// (sec/op). LIMIT is a number, or for sec/op a time (150ns, 0.8us, 3ms), for
// B/op also a size (16KiB).
//
//   - A ceiling limits a measurement of each matching benchmark. A ceiling of a
//     time holds on one known machine; it is checked only on demand, and
//     otherwise reported as not checked.
//   - A ratio limits one measurement divided by another of the same run. If both
//     names have stars, these match the same text on both sides.
//   - A slope limits the growth with the size that the star matches: the slope of
//     log(measurement) over log(size), of at least three sizes.
//   - A count is the exact number of matching benchmarks. It fails if one of
//     several that a star matches is removed or renamed.
//   - A package line applies to the rules below it. The path may be cut at its
//     front (bench/index), and * ends the restriction.
func ParseRules(r io.Reader, file string) (*Rules, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	p := ruleParser{file: file, seen: map[string]int{}}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		p.number = number
		if p.words = splitWords(line); len(p.words) > 0 {
			p.parseLine()
		}
	}
	if len(p.rules) == 0 && len(p.errs) == 0 {
		p.errs = append(p.errs, fmt.Errorf("%s:1:1: there are no rules; write, for example: ceiling Name allocs/op 0", file))
	}
	if err := errors.Join(p.errs...); err != nil {
		return nil, err
	}
	return &Rules{rules: p.rules}, nil
}

// A word is a part of a line, with its column in characters, from 1.
type word struct {
	text   string
	column int
}

// splitWords splits a line at spaces. A word that begins with # begins a
// comment; within a word it is part of a name (BenchmarkX/a#01).
func splitWords(line string) []word {
	var words []word
	column := 1
	for line != "" {
		rest := strings.TrimLeftFunc(line, unicode.IsSpace)
		column += utf8.RuneCountInString(line[:len(line)-len(rest)])
		end := strings.IndexFunc(rest, unicode.IsSpace)
		if end < 0 {
			end = len(rest)
		}
		if end == 0 || rest[0] == '#' {
			break
		}
		words = append(words, word{rest[:end], column})
		column += utf8.RuneCountInString(rest[:end])
		line = rest[end:]
	}
	return words
}

// A ruleParser is at one line of a rule file.
type ruleParser struct {
	file   string
	number int
	words  []word
	form   string // of the line
	pkg    string // of the last line `package`

	rules []rule
	seen  map[string]int // from the target of a rule to its line
	errs  []error
}

func (p *ruleParser) errorf(at word, format string, args ...any) {
	p.errs = append(p.errs, fmt.Errorf("%s:%d:%d: %s", p.file, p.number, at.column, fmt.Sprintf(format, args...)))
}

func (p *ruleParser) parseLine() {
	keyword := p.words[0]
	f, known := lineForms[keyword.text]
	p.form = f.form
	switch {
	case !known:
		p.errorf(keyword, "unknown word %q; a line begins with ceiling, ratio, slope, count or package", keyword.text)
	case p.has(f.words):
		f.parse(p)
	}
}

func (p *ruleParser) parsePackage() {
	p.pkg = p.words[1].text
	if p.pkg == "*" {
		p.pkg = ""
	}
}

func (p *ruleParser) parseCeiling() {
	limit, unit, err := parseLimit(p.words[3].text, p.words[2].text)
	if err != nil {
		p.errorf(p.words[3], "%v", err)
		return
	}
	p.add(ceiling{p.line(), p.selector(1), unit, limit}, unit)
}

func (p *ruleParser) parseRatio() {
	if !p.literal(2, "/") {
		return
	}
	unit, limit, ok := p.bound(4)
	if !ok {
		return
	}
	r := ratio{p.line(), p.selector(1), p.selector(3), unit, limit}
	if r.under.stars > 0 && r.under.stars != r.over.stars {
		p.errorf(p.words[3], "%s has %s and %s has %d; a star is the same text on both sides",
			r.under.text, plural(r.under.stars, "star"), r.over.text, r.over.stars)
		return
	}
	if limit < 0 {
		p.errorf(p.words[6], "a ratio is never negative")
		return
	}
	if r.under.text == r.over.text {
		p.errorf(p.words[3], "%s divided by itself is always 1", r.under.text)
		return
	}
	p.add(r, unit)
}

func (p *ruleParser) parseSlope() {
	unit, limit, ok := p.bound(2)
	if !ok {
		return
	}
	s := slope{p.line(), p.selector(1), unit, limit}
	if s.selector.stars != 1 {
		p.errorf(p.words[1], "%s has %s; a slope has one, in place of the size, as in %s", s.selector.text, plural(s.selector.stars, "star"), p.form)
		return
	}
	p.add(s, unit)
}

func (p *ruleParser) parseCount() {
	want, err := strconv.Atoi(p.words[2].text)
	if err != nil || want < 1 {
		p.errorf(p.words[2], "%q is not a number of 1 or more; write: %s", p.words[2].text, p.form)
		return
	}
	p.add(count{p.line(), p.selector(1), want}, "")
}

// bound reads UNIT <= NUMBER from word i on.
func (p *ruleParser) bound(i int) (unit string, limit float64, ok bool) {
	if !p.literal(i+1, "<=") {
		return "", 0, false
	}
	limit, err := strconv.ParseFloat(p.words[i+2].text, 64)
	if err != nil || math.IsNaN(limit) || math.IsInf(limit, 0) {
		p.errorf(p.words[i+2], "%q is not a number; it has no unit, since the units cancel out", p.words[i+2].text)
		return "", 0, false
	}
	_, unit = benchunit.Tidy(1, p.words[i].text)
	return unit, limit, true
}

// has reports whether the line has n words.
func (p *ruleParser) has(n int) bool {
	switch {
	case len(p.words) > n:
		p.errorf(p.words[n], "unexpected %q; write: %s", p.words[n].text, p.form)
	case len(p.words) < n:
		last := p.words[len(p.words)-1]
		last.column += utf8.RuneCountInString(last.text)
		p.errorf(last, "the line ends too early; write: %s", p.form)
	}
	return len(p.words) == n
}

func (p *ruleParser) literal(i int, text string) bool {
	if p.words[i].text != text {
		p.errorf(p.words[i], "%q in place of %q; write: %s", p.words[i].text, text, p.form)
	}
	return p.words[i].text == text
}

func (p *ruleParser) selector(i int) selector {
	return selector{p.pkg, p.words[i].column, newPattern(p.words[i].text)}
}

func (p *ruleParser) line() line {
	var words []string
	for _, w := range p.words {
		words = append(words, w.text)
	}
	return line{p.file, p.number, p.words[0].column, strings.Join(words, " ")}
}

// add keeps a rule. If two rules limit the same measurement, one of them is a
// mistake.
func (p *ruleParser) add(r rule, unit string) {
	key := fmt.Sprintf("%s %s %s", p.words[0].text, p.pkg, newPattern(p.words[1].text).text)
	if p.words[0].text == "ratio" {
		key += " / " + newPattern(p.words[3].text).text
	}
	key += " " + unit
	if first, ok := p.seen[key]; ok {
		p.errorf(p.words[0], "line %d limits the same already", first)
		return
	}
	p.seen[key] = p.number
	p.rules = append(p.rules, r)
}
