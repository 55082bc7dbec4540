package gate

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Rules is a rule file. It never changes.
type Rules struct {
	rules []rule
}

// A rule is one line of a rule file.
type rule interface {
	// check applies the rule to every benchmark that it names.
	check(results *Results, times bool) ([]outcome, error)
}

// A line is the place of a rule, with its words joined by single spaces.
type line struct {
	file   string
	number int
	column int
	text   string
}

// errorf makes an error at the rule.
func (l line) errorf(format string, args ...any) error {
	return fmt.Errorf("%s:%d:%d: %s", l.file, l.number, l.column, fmt.Sprintf(format, args...))
}

// Check applies the rules to the output of one run. If times is set, it also
// checks ceilings of times, which hold only on one known machine. All errors
// are reported together. A rule that names no benchmark, or a benchmark without
// the rule's unit, is an error, because such a rule cannot fail.
func (r *Rules) Check(results *Results, times bool) (Outcomes, error) {
	var errs []error
	for _, key := range results.mixed {
		errs = append(errs, fmt.Errorf("the output is of several machines (%s differs); check one run at a time", key))
	}
	var outcomes Outcomes
	for _, rule := range r.rules {
		found, err := rule.check(results, times)
		outcomes = append(outcomes, found...)
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(outcomes, func(o outcome) bool { return o.Checked }) {
		return nil, errors.New("nothing would be checked: all rules are ceilings of times, which are off; a rule that holds on any machine is a ratio or a counter")
	}
	return outcomes, nil
}

// measure reduces the measurements of a benchmark in a unit to one number.
func measure(l line, results *Results, b benchmarkID, unit string) (float64, error) {
	u := results.Unit(unit)
	sample := results.sample(b, unit, DefaultLimits().thresholds())
	if sample == nil {
		return 0, l.errorf("%s has no %s; it has %s", results.name(b), unit, joinOr(results.unitsOf(b), "no measurements"))
	}
	return u.reduce(sample), nil
}

// outcome sets the fields that all kinds of rules share.
func (l line) outcome(names string, unit unit, value, limit float64, packages ...string) outcome {
	return outcome{File: l.file, Line: l.number, Rule: l.text, Names: names, Unit: unit, Packages: packages,
		Value: value, Limit: limit, Checked: true}
}

// matches is selector.matches, or an error if nothing matches.
func (l line) matches(s selector, results *Results) ([]match, error) {
	found := s.matches(results)
	if len(found) > 0 {
		return found, nil
	}
	in := ""
	if s.pkg != "" {
		in = " in package " + s.pkg
	}
	l.column = s.column
	return nil, l.errorf("no benchmark matches %s%s; %s", s.text, in, s.nearest(results))
}

// each calls the function of for each element. It returns the results without an
// error, and joins the errors.
func each[E, R any](list []E, of func(E) (R, error)) ([]R, error) {
	var all []R
	var errs []error
	for _, element := range list {
		if r, err := of(element); err != nil {
			errs = append(errs, err)
		} else {
			all = append(all, r)
		}
	}
	return all, errors.Join(errs...)
}

// A ceiling is an upper limit of a measurement of one benchmark:
//
//	ceiling  BENCHMARK  UNIT  LIMIT
type ceiling struct {
	line
	selector selector
	unit     string
	limit    float64
}

func (c ceiling) check(results *Results, times bool) ([]outcome, error) {
	matches, err := c.matches(c.selector, results)
	if err != nil {
		return nil, err
	}
	return each(matches, func(m match) (outcome, error) {
		value, err := measure(c.line, results, m.benchmark, c.unit)
		unit := results.Unit(c.unit)
		outcome := c.outcome(results.name(m.benchmark), unit, value, c.limit, m.benchmark.Package)
		outcome.Checked = times || unit.Class != Time
		return outcome, err
	})
}

// A count is the number of benchmarks that a pattern matches:
//
//	count  BENCHMARK  NUMBER
//
// A rule with stars holds as long as one benchmark matches; a count fails if one
// of several is gone or renamed. It is an error if it does not hold.
type count struct {
	line
	selector selector
	want     int
}

func (c count) check(results *Results, _ bool) ([]outcome, error) {
	matches, err := c.matches(c.selector, results)
	if err != nil {
		return nil, err
	}
	names := map[benchmarkID]bool{} // one name at several GOMAXPROCS is one benchmark
	for _, m := range matches {
		names[benchmarkID{m.benchmark.Package, strings.TrimSuffix(m.benchmark.Name, m.procs)}] = true
	}
	if n := len(names); n != c.want {
		return nil, c.errorf("%s match %s, not %d; if this is intended, change the number", plural(n, "benchmark"), c.selector.text, c.want)
	}
	n := float64(c.want)
	return []outcome{c.outcome(c.selector.text, unit{Name: "benchmarks", Class: Counter}, n, n)}, nil
}
