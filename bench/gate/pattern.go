package gate

import (
	"regexp"
	"slices"
	"strings"
)

// A pattern names benchmarks: the name without "Benchmark", where each * stands
// for any text within one part between slashes. The suffix -GOMAXPROCS that
// the testing package appends is left out.
type pattern struct {
	text  string
	re    *regexp.Regexp
	stars int
}

func newPattern(text string) pattern {
	text = strings.TrimPrefix(text, "Benchmark")
	parts := strings.Split(text, "*")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return pattern{
		text:  text,
		re:    regexp.MustCompile("^" + strings.Join(parts, "([^/]*)") + "$"),
		stars: len(parts) - 1,
	}
}

// A match is a benchmark that a pattern names.
type match struct {
	benchmark Benchmark
	procs     string   // the suffix -GOMAXPROCS, or ""
	stars     []string // what each * stood for
}

// match tells whether the pattern names b. With GOMAXPROCS=1 there is no
// suffix, and svc-7 is the whole name; so the name is tried both ways.
func (p pattern) match(b Benchmark) (match, bool) {
	name, procs := cutProcs(b.Name)
	if found := p.re.FindStringSubmatch(name); found != nil {
		return match{b, procs, found[1:]}, true
	}
	if found := p.re.FindStringSubmatch(b.Name); found != nil {
		return match{b, "", found[1:]}, true
	}
	return match{}, false
}

// cutProcs splits From/k=20-2 into From/k=20 and -2.
func cutProcs(name string) (short, procs string) {
	digits := len(name)
	for digits > 0 && '0' <= name[digits-1] && name[digits-1] <= '9' {
		digits--
	}
	if digits == len(name) || digits < 2 || name[digits-1] != '-' {
		return name, ""
	}
	return name[:digits-1], name[digits-1:]
}

// A selector is a pattern within the package that the rule file names last.
// A package is named by the end of its import path: bench/rules; "" is any.
type selector struct {
	pkg    string
	column int // where the pattern stands in its line
	pattern
}

func (s selector) matches(results *Results) []match {
	var matches []match
	for _, b := range results.Benchmarks() {
		if s.pkg != "" && b.Package != s.pkg && !strings.HasSuffix(b.Package, "/"+s.pkg) {
			continue
		}
		if m, ok := s.match(b); ok {
			matches = append(matches, m)
		}
	}
	return matches
}

// nearest explains why nothing matched: it names the benchmarks that share the
// most leading parts with the pattern.
func (s selector) nearest(results *Results) string {
	const shown = 4
	parts := strings.Split(s.text, "/")
	for n := len(parts) - 1; n >= 0; n-- {
		prefix := newPattern(strings.Join(parts[:n], "/"))
		var names []string
		for _, b := range results.Benchmarks() {
			name, _ := cutProcs(b.Name)
			nameParts := strings.Split(name, "/")
			if len(nameParts) >= n && prefix.re.MatchString(strings.Join(nameParts[:n], "/")) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		if len(names) > shown {
			names = append(names[:shown], "...")
		}
		if len(names) > 0 {
			return "there are " + strings.Join(names, ", ")
		}
	}
	return "the output has no benchmarks"
}
