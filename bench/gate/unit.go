package gate

import (
	"slices"
	"strings"

	"golang.org/x/perf/benchmath"
	"golang.org/x/perf/benchunit"
)

// A unitClass is the reliability of measurements in a unit, which determines how
// they are gated.
type unitClass int

const (
	// Counter is for exact counts: allocs/op and the work counters that
	// b.ReportMetric reports. Equal work gives equal counts, so any increase
	// fails.
	Counter unitClass = iota
	// Bytes is for amounts of memory. They are also counted, but the growth of
	// a slice or map that outlives an iteration is divided by b.N, which
	// depends on the clock. So they have a small tolerance.
	Bytes
	// Time is for measurements of the clock, which need statistics.
	Time
	// Derived is for units that another unit of the same benchmark already
	// gates: B/s follows from sec/op.
	Derived
)

// A unit is a tidied unit (sec/op, never ns/op) and determines how its
// measurements are gated.
type unit struct {
	Name           string
	Class          unitClass
	HigherIsBetter bool
}

// Unit classifies a tidied unit by its name. A line `Unit NAME
// assume=exact|nothing better=higher|lower` of the output has precedence.
func (r *Results) Unit(name string) unit {
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

func unitByName(name string) unit {
	numerator, denominator, _ := strings.Cut(name, "/")
	switch words := strings.FieldsFunc(numerator, func(r rune) bool { return !isLetter(r) }); {
	case name == "B/s":
		return unit{name, Derived, true}
	case denominator == "s" || denominator == "sec":
		return unit{name, Time, true}
	case slices.ContainsFunc(words, isTimeWord):
		return unit{name, Time, false}
	case benchunit.ClassOf(name) == benchunit.Binary:
		return unit{name, Bytes, false}
	}
	return unit{name, Counter, false}
}

func isLetter(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r == 'µ' }

// isTimeWord also accepts the prefixes that benchunit does not tidy.
func isTimeWord(word string) bool {
	return slices.Contains([]string{"sec", "s", "ms", "us", "µs", "ns"}, word)
}

// reduce returns one number for repeated measurements: the best time, because
// noise only adds to times, and the median of everything else.
func (u unit) reduce(sample *benchmath.Sample) float64 {
	if u.Class != Time {
		return median(sample)
	}
	if u.HigherIsBetter {
		return sample.Values[len(sample.Values)-1]
	}
	return sample.Values[0]
}

// worse reports whether b is worse than a, by any amount.
func (u unit) worse(a, b float64) bool {
	if u.HigherIsBetter {
		return b < a
	}
	return b > a
}

func median(sample *benchmath.Sample) float64 {
	return benchmath.AssumeNothing.Summary(sample, 0.95).Center
}
