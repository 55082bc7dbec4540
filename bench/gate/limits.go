package gate

import (
	"errors"

	"golang.org/x/perf/benchmath"
)

// Limits defines how much worse than the base the head may be.
type Limits struct {
	// TimeRatio is the ratio of the best times above which a benchmark is
	// suspect; 1.10 accepts ten percent. A time that is no suspect is the same
	// if its ratio is below twice the accepted part (1.20 for 1.10), with
	// confidence 1-Alpha. Otherwise it is inconclusive.
	TimeRatio float64
	// Alpha is the p-value of the Mann-Whitney U test below which base and head
	// are different.
	Alpha float64
	// BytesTolerance is the part by which amounts of memory may grow; 0.01
	// accepts one percent. See [Bytes].
	BytesTolerance float64
}

// bytesSlack is the tolerance for amounts of memory in addition to the ratio. A
// whole allocation below it is still visible in allocs/op, which has no
// tolerance.
const bytesSlack = 16

// DefaultLimits returns limits that equal binaries do not exceed on shared
// machines, where times alone have differed by 27 % with p = 0.043.
func DefaultLimits() Limits {
	return Limits{TimeRatio: 1.10, Alpha: 0.01, BytesTolerance: 0.01}
}

// Validate returns an error for limits with which the gate would accept nothing
// or everything.
func (l Limits) Validate() error {
	var errs []error
	if !(l.TimeRatio > 1) {
		errs = append(errs, errors.New("the threshold of time must be above 1: equal programs have a ratio of 1"))
	}
	if !(l.Alpha > 0 && l.Alpha < 1) {
		errs = append(errs, errors.New("alpha must be between 0 and 1"))
	}
	if !(l.BytesTolerance >= 0 && l.BytesTolerance < 1) {
		errs = append(errs, errors.New("the tolerance of B/op must be between 0 and 1: 0.01 is one percent"))
	}
	return errors.Join(errs...)
}

func (l Limits) thresholds() *benchmath.Thresholds {
	t := benchmath.DefaultThresholds
	t.CompareAlpha = l.Alpha
	return &t
}

// hidden is the ratio of times that a noisy benchmark must not hide.
func (l Limits) hidden() float64 { return 1 + 2*(l.TimeRatio-1) }

// exceeds reports whether worse exceeds good by more than the limit. With the
// arguments swapped, it reports whether the measurement improved.
func (l Limits) exceeds(unit unit, good, worse float64) bool {
	if unit.HigherIsBetter {
		good, worse = worse, good
	}
	switch unit.Class {
	case Counter:
		return worse > good
	case Bytes:
		return worse > good*(1+l.BytesTolerance)+bytesSlack
	case Time:
		return worse > good*l.TimeRatio
	}
	return false
}
