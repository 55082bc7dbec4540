package gate

import (
	"fmt"

	"golang.org/x/perf/benchmath"
)

// A Row compares one benchmark in one unit.
type Row struct {
	Benchmark Benchmark
	Unit      Unit

	// Base and Head are the measurements, reduced as [Unit.Reduce] says. The
	// one that does not exist (new, missing) is nil.
	Base, Head *float64
	// P is the p-value of the U test, where one was made.
	P *float64

	Verdict Verdict
	Reason  string // of every verdict but same and better
}

// Ratio returns head / base; ok tells whether there is one.
func (r Row) Ratio() (ratio float64, ok bool) {
	switch {
	case r.Base == nil || r.Head == nil:
		return 0, false
	case *r.Base == *r.Head:
		return 1, true
	case *r.Base == 0:
		return 0, false
	}
	return *r.Head / *r.Base, true
}

// Compare judges the head by the base, in the order of the head's output; what
// only the base has comes last. What exact measurements prove worse is Worse.
// Where measurements scatter, the worse is a Suspect: see [Confirm].
func Compare(base, head *Results, limits Limits) []Row {
	var rows []Row
	for _, b := range head.Benchmarks() {
		for _, unit := range head.Units(b) {
			rows = append(rows, compareOne(base, head, b, head.Unit(unit), limits))
		}
	}
	for _, b := range base.Benchmarks() {
		for _, unit := range base.Units(b) {
			if head.Sample(b, unit, limits.thresholds()) == nil {
				rows = append(rows, compareOne(base, head, b, base.Unit(unit), limits))
			}
		}
	}
	return rows
}

// lost is the reason of all rows of a benchmark that the head does not have.
const lost = "the head does not have this benchmark any more"

func compareOne(base, head *Results, b Benchmark, unit Unit, limits Limits) Row {
	row := Row{Benchmark: b, Unit: unit}
	old := base.Sample(b, unit.Name, limits.thresholds())
	if old != nil {
		v := unit.Reduce(old)
		row.Base = &v
	}
	now := head.Sample(b, unit.Name, limits.thresholds())
	if now != nil {
		v := unit.Reduce(now)
		row.Head = &v
	}
	switch {
	case old == nil:
		row.Verdict, row.Reason = New, "the base does not have it"
	case now == nil:
		row.Verdict, row.Reason = Missing, "the head does not report it any more"
		if len(head.Units(b)) == 0 {
			row.Reason = lost
		}
	case unit.Class == Derived:
		row.Verdict, row.Reason = Ungated, "sec/op has the same information"
	default:
		row.judge(old, now, limits)
	}
	return row
}

// judge sets the verdict of a row that both sides have.
func (r *Row) judge(base, head *benchmath.Sample, limits Limits) {
	worse := limits.exceeds(r.Unit, *r.Base, *r.Head)
	better := limits.exceeds(r.Unit, *r.Head, *r.Base)
	r.Verdict = Same
	if r.Unit.Class != Time && steady(base) && steady(head) {
		switch {
		case worse:
			r.Verdict, r.Reason = Worse, fmt.Sprintf("%s, exactly, in every run", r.excess(limits))
		case better:
			r.Verdict = Better
		}
		return
	}
	test := benchmath.AssumeNothing.Compare(base, head)
	r.P = &test.P
	// The test tells that the sides differ, not which is worse; the best times
	// may say the opposite of all others.
	agrees := func(good, worse *benchmath.Sample) bool {
		return test.P < limits.Alpha && r.Unit.worse(median(good), median(worse))
	}
	switch {
	case worse && agrees(base, head):
		r.Verdict, r.Reason = Suspect, fmt.Sprintf("%s, p=%.2g", r.excess(limits), test.P)
	case worse && test.P < limits.Alpha:
		r.Reason = fmt.Sprintf("%s, but most runs are not worse", r.excess(limits))
	case worse:
		r.Reason = fmt.Sprintf("%s, but p=%.2g: it may be noise", r.excess(limits), test.P)
		for _, warning := range test.Warnings {
			r.Reason += fmt.Sprintf(" (%v)", warning)
		}
	case better && agrees(head, base):
		r.Verdict = Better
	}
}

// steady tells whether all runs measured the same.
func steady(s *benchmath.Sample) bool {
	return len(benchmath.AssumeExact.Summary(s, 1).Warnings) == 0
}

// excess says by how much the head is over which limit.
func (r Row) excess(limits Limits) string {
	change := "up"
	if r.Unit.HigherIsBetter {
		change = "down"
	}
	text := fmt.Sprintf("%s from %s to %s", change, formatExact(*r.Base), formatExact(*r.Head))
	switch r.Unit.Class {
	case Time:
		text = fmt.Sprintf("%s from %s to %s, the limit is %.0f %%", change, formatScaled(*r.Base, r.Unit.Name), formatScaled(*r.Head, r.Unit.Name), 100*(limits.TimeRatio-1))
	case Bytes:
		text += fmt.Sprintf(", the tolerance is %.3g %% and %d B", 100*limits.BytesTolerance, bytesSlack)
	}
	return text
}
