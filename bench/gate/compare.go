package gate

import (
	"fmt"
	"slices"

	"golang.org/x/perf/benchmath"
)

// A Row compares one benchmark in one unit.
type Row struct {
	Benchmark benchmarkID
	Former    benchmarkID // its name in the base, if it is different
	Unit      unit

	// Base and Head are the reduced measurements (see unit.go). A measurement
	// that does not exist (new, missing) is nil.
	Base, Head *float64
	// P is the p-value of the U test, if one was made.
	P *float64
	// interval contains head / base with the confidence 1 - [Limits.Alpha], if the
	// measurements differ from run to run; else it is nil.
	Interval *interval

	Verdict Verdict
	Reason  string // of every verdict except same and better
}

// Ratio returns head / base; ok reports whether the ratio exists.
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

// compare judges the head by the base, in the order of the head's output;
// benchmarks that only the base has come last. An exact measurement that is
// worse is Worse. A measurement that scatters and is worse is a Suspect; see
// [confirm].
func compare(base, head *Results, renames renameList, limits Limits) []Row {
	base, former := base.renamed(renames, head)
	var rows []Row
	for _, b := range head.benchmarks {
		for _, unit := range head.unitsOf(b) {
			rows = append(rows, compareOne(base, head, b, head.Unit(unit), limits))
		}
	}
	for _, b := range base.benchmarks {
		for _, unit := range base.unitsOf(b) {
			if head.sample(b, unit, limits.thresholds()) == nil {
				rows = append(rows, compareOne(base, head, b, base.Unit(unit), limits))
			}
		}
	}
	for i := range rows {
		rows[i].Former = former[rows[i].Benchmark]
	}
	return rows
}

// lost is the reason for all rows of a benchmark that the head does not have.
const lost = "the head does not have this benchmark"

func compareOne(base, head *Results, b benchmarkID, unit unit, limits Limits) Row {
	row := Row{Benchmark: b, Unit: unit}
	old := base.sample(b, unit.Name, limits.thresholds())
	if old != nil {
		v := unit.reduce(old)
		row.Base = &v
	}
	now := head.sample(b, unit.Name, limits.thresholds())
	if now != nil {
		v := unit.reduce(now)
		row.Head = &v
	}
	switch {
	case old == nil:
		row.Verdict, row.Reason = New, "the base does not have it"
	case now == nil:
		row.Verdict, row.Reason = Missing, "the head does not report it"
		if len(head.unitsOf(b)) == 0 {
			row.Reason = lost
		}
	case unit.Class == Derived:
		row.Verdict, row.Reason = Ungated, "sec/op has the same information"
	case unit.Class != Time && steady(old) && steady(now):
		row.judgeExact(limits)
	default:
		row.judgeScattered(old, now, limits)
	}
	return row
}

// steady reports whether all runs measured the same.
func steady(s *benchmath.Sample) bool {
	return len(benchmath.AssumeExact.Summary(s, 1).Warnings) == 0
}

func (r *Row) judgeExact(limits Limits) {
	switch {
	case limits.exceeds(r.Unit, *r.Base, *r.Head):
		r.Verdict, r.Reason = Worse, fmt.Sprintf("%s, exactly, in every run", r.excess(limits))
	case limits.exceeds(r.Unit, *r.Head, *r.Base):
		r.Verdict = Better
	default:
		r.Verdict = Same
	}
}

// judgeScattered judges measurements that differ from run to run. The U test
// shows that two sides differ, but not which side is worse, so the medians must
// agree with the best times.
func (r *Row) judgeScattered(base, head *benchmath.Sample, limits Limits) {
	test := benchmath.AssumeNothing.Compare(base, head)
	r.P = &test.P
	ratios := ratioInterval(base.Values, head.Values, limits.Alpha)
	r.Interval = &ratios
	exceeds := func(good, worse *benchmath.Sample) bool {
		return limits.exceeds(r.Unit, r.Unit.reduce(good), r.Unit.reduce(worse))
	}
	agrees := func(good, worse *benchmath.Sample) bool {
		return test.P < limits.Alpha && r.Unit.worse(median(good), median(worse))
	}
	switch {
	case exceeds(base, head) && agrees(base, head):
		r.Verdict, r.Reason = Suspect, fmt.Sprintf("%s, p=%.2g", r.excess(limits), test.P)
	case exceeds(head, base) && agrees(head, base):
		r.Verdict = Better
	case r.Unit.Class == Time:
		r.judgeInterval(base, head, limits)
	case exceeds(base, head):
		r.Verdict, r.Reason = Inconclusive, fmt.Sprintf("%s, but p=%.2g after %s", r.excess(limits), test.P, plural(len(head.Values), "run"))
	default:
		r.Verdict = Same
	}
}

// judgeInterval distinguishes times that are within the limits from times that
// are too noisy to be judged.
func (r *Row) judgeInterval(base, head *benchmath.Sample, limits Limits) {
	r.Verdict = Same
	factor, half := ratioIntervals(base, head, r.Unit, limits.Alpha)
	if min(factor.High, half.High) > limits.hidden() {
		r.Verdict = Inconclusive
		r.Reason = fmt.Sprintf("too noisy to be judged: a ratio of %.2f to %.2f, with a confidence of %.3g %% after %s",
			factor.Low, factor.High, 100*(1-limits.Alpha), plural(len(head.Values), "run"))
	}
}

// excess describes the limit that the head exceeds, and by how much.
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

// having returns the rows with a verdict, one for each benchmark.
func having(rows []Row, verdict Verdict) []Row {
	var found []Row
	for _, row := range rows {
		if row.Verdict == verdict && !slices.ContainsFunc(found, func(r Row) bool { return r.Benchmark == row.Benchmark }) {
			found = append(found, row)
		}
	}
	return found
}

// confirm decides the suspects among rows by a second comparison from fresh
// runs. A suspect that is worse again fails. A suspect that is inconclusive the
// second time is inconclusive, and any other suspect is cleared. A suspect
// without a second measurement remains a suspect, which also fails. The other
// rows are not changed.
func confirm(rows, second []Row) []Row {
	confirmed := slices.Clone(rows)
	for i := range confirmed {
		row := &confirmed[i]
		if row.Verdict != Suspect {
			continue
		}
		at := slices.IndexFunc(second, func(r Row) bool {
			return r.Benchmark == row.Benchmark && r.Unit == row.Unit && r.Base != nil && r.Head != nil
		})
		if at < 0 {
			row.Reason += "; it was not measured again"
			continue
		}
		switch again := second[at]; again.Verdict {
		case Suspect, Worse:
			row.Verdict = Worse
			row.Reason += "; again " + again.Reason
		case Inconclusive:
			row.Verdict = Inconclusive
			row.Reason += "; not confirmed: " + again.Reason
		default:
			row.Verdict = Cleared
			row.Reason += fmt.Sprintf("; not confirmed: %s in the second round", again.ratioText())
		}
	}
	return confirmed
}
