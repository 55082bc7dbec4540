package gate

import (
	"regexp"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// A pattern matches names of benchmarks. It has neither "Benchmark" nor the
// suffix -GOMAXPROCS that the testing package appends. Each * matches any text
// within one part between slashes.
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

// A match is a benchmark that a pattern matches.
type match struct {
	benchmark benchmarkID
	procs     string   // the suffix -GOMAXPROCS, or ""
	stars     []string // the text of each *
}

// match reports whether the pattern matches b. With GOMAXPROCS=1 there is no
// suffix, and svc-7 is the whole name, so the name is tried both ways.
func (p pattern) match(b benchmarkID) (match, bool) {
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
	_, parts := benchfmt.Name(name).Parts()
	if n := len(parts); n > 0 && parts[n-1][0] == '-' {
		procs = string(parts[n-1])
	}
	return strings.TrimSuffix(name, procs), procs
}

// A selector is a pattern within the package of the last line `package`.
type selector struct {
	pkg    string
	column int // of the pattern in its line
	pattern
}

// inPackage reports whether b is in a package, given by its import path or the
// end of it (bench/rules); "" means any package.
func inPackage(b benchmarkID, pkg string) bool {
	return pkg == "" || b.Package == pkg || strings.HasSuffix(b.Package, "/"+pkg)
}

func (s selector) matches(results *Results) []match {
	var matches []match
	for _, b := range results.benchmarks {
		if m, ok := s.match(b); ok && inPackage(b, s.pkg) {
			matches = append(matches, m)
		}
	}
	return matches
}

// nearest lists, for an error, the benchmarks that share the most leading parts
// with the pattern.
func (s selector) nearest(results *Results) string {
	const shown = 4
	parts := strings.Split(s.text, "/")
	for n := len(parts) - 1; n >= 0; n-- {
		prefix := newPattern(strings.Join(parts[:n], "/"))
		var names []string
		for _, b := range results.benchmarks {
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
