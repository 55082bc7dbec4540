package gate

import (
	"slices"
	"strings"

	"golang.org/x/perf/benchmath"
	"golang.org/x/perf/benchunit"
)

// A Class is how far measurements in a unit can be trusted, and so how they
// are gated.
type Class int

const (
	// Counter is for what a run counts: allocs/op and the work counters that
	// b.ReportMetric reports. Equal work gives equal counts, any increase fails.
	Counter Class = iota
	// Bytes is for amounts of memory. They are counted too, but the growth of
	// a slice or map that outlives an iteration is spread over b.N iterations,
	// and b.N follows the clock; so they have a small tolerance.
	Bytes
	// Time is for what the clock measures: a statistic decides.
	Time
	// Derived is for what another unit of the same benchmark gates: B/s is
	// sec/op again.
	Derived
)

// A Unit is a tidied unit (sec/op, never ns/op) with the way it is gated.
type Unit struct {
	Name           string
	Class          Class
	HigherIsBetter bool
}

// Unit classifies a tidied unit by its name. Where the output has a line
// `Unit NAME assume=exact|nothing better=higher|lower`, that line decides.
func (r *Results) Unit(name string) Unit {
	unit := unitByName(name)
	if assume := r.units.Get(name, "assume"); assume != nil {
		unit.Class = Time
		if assume.Value == "exact" {
			unit.Class = Counter
		}
	}
	switch r.units.GetBetter(name) {
	case 1:
		unit.HigherIsBetter = true
	case -1:
		unit.HigherIsBetter = false
	}
	return unit
}

func unitByName(name string) Unit {
	numerator, denominator, _ := strings.Cut(name, "/")
	switch words := strings.FieldsFunc(numerator, func(r rune) bool { return !isLetter(r) }); {
	case name == "B/s":
		return Unit{name, Derived, true}
	case denominator == "s" || denominator == "sec":
		return Unit{name, Time, true}
	case slices.ContainsFunc(words, isTimeWord):
		return Unit{name, Time, false}
	case benchunit.ClassOf(name) == benchunit.Binary:
		return Unit{name, Bytes, false}
	}
	return Unit{name, Counter, false}
}

func isLetter(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r == 'µ' }

// isTimeWord accepts also the prefixes that benchunit does not tidy.
func isTimeWord(word string) bool {
	return slices.Contains([]string{"sec", "s", "ms", "us", "µs", "ns"}, word)
}

// Reduce gives the one number that stands for repeated measurements: of times
// the best, since noise only ever adds; of everything else the median.
func (u Unit) Reduce(sample *benchmath.Sample) float64 {
	if u.Class != Time {
		return median(sample)
	}
	if u.HigherIsBetter {
		return sample.Values[len(sample.Values)-1]
	}
	return sample.Values[0]
}

// worse tells whether b is worse than a, by however little.
func (u Unit) worse(a, b float64) bool {
	if u.HigherIsBetter {
		return b < a
	}
	return b > a
}

func median(sample *benchmath.Sample) float64 {
	return benchmath.AssumeNothing.Summary(sample, 0.95).Center
}
