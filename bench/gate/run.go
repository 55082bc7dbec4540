package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"
)

// Run builds both sides, runs them in turns, compares them, and runs the
// suspects once more. It removes everything that it creates before it returns,
// even when ctx ends.
func Run(ctx context.Context, c Config) (comparison *Comparison, err error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if !isProgram(c.Head) && !isDir(c.Head) {
		return nil, fmt.Errorf("%q is neither a directory nor a test binary", c.Head)
	}
	temp, err := os.MkdirTemp("", "benchgate-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()

	base, done, err := openBase(ctx, c, temp)
	defer func() { err = errors.Join(err, done()) }()
	if err != nil {
		return nil, err
	}
	head, err := openHead(ctx, c, temp)
	if err != nil {
		return nil, err
	}
	jobs, err := pair(base, head, c.Bench)
	if err != nil {
		return nil, err
	}
	rows, err := compareRuns(ctx, c, jobs)
	if err != nil {
		return nil, err
	}
	return &Comparison{Base: base.label, Head: head.label, Rounds: c.Rounds, Rows: rows, FailOn: c.FailOn}, nil
}

func compareRuns(ctx context.Context, c Config, jobs []job) ([]Row, error) {
	first, rows, err := settle(ctx, c, "compare", jobs)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(rows, func(r Row) bool { return r.Head != nil }) {
		return nil, c.nothing()
	}
	suspects := having(rows, Suspect)
	if len(suspects) == 0 {
		return rows, nil
	}
	_, again, err := settle(ctx, c, "confirm", first.jobsOf(suspects))
	if err != nil {
		return nil, err
	}
	return confirm(rows, again), nil
}

// The runs of benchmarks whose times were inconclusive. They were measured without a change at a
// load of 10 to 14: runs of 200 ms were inconclusive in 3 of 3 comparisons, and these in none of
// 4. The best of many short runs is less disturbed.
const (
	shortTime   = time.Millisecond
	shortRounds = 30
)

// shorter returns the configuration with short runs. It reports false if the runs of c are short
// already, or are a number of iterations.
func (c Config) shorter() (Config, bool) {
	d, err := time.ParseDuration(cmp.Or(c.BenchTime, "1s"))
	if err != nil || d <= shortTime {
		return c, false
	}
	c.MaxRounds = max(c.maxRounds(), shortRounds)
	c.BenchTime, c.Rounds = shortTime.String(), max(c.Rounds, shortRounds)
	return c, true
}

// settle compares jobs. Times that are inconclusive are measured again with short runs, until they
// are conclusive or have run the maximum number of times.
func settle(ctx context.Context, c Config, what string, jobs []job) (*measurement, []Row, error) {
	short, can := c.shorter()
	if can {
		c.MaxRounds = c.Rounds
	}
	m, err := newMeasurement(c, what, jobs)
	if err != nil {
		return nil, nil, err
	}
	rows, err := m.decide(ctx)
	if unclear := having(rows, Inconclusive); err == nil && can && len(unclear) > 0 {
		var again *measurement
		if again, err = newMeasurement(short, what+" with short runs", m.jobsOf(unclear)); err != nil {
			return nil, nil, err
		}
		var second []Row
		second, err = again.decide(ctx)
		rows = settled(rows, second)
	}
	return m, rows, err
}

// settled replaces the inconclusive rows by rows of a second comparison.
func settled(rows, second []Row) []Row {
	for i := range rows {
		at := slices.IndexFunc(second, func(r Row) bool {
			return r.Benchmark == rows[i].Benchmark && r.Unit == rows[i].Unit && r.Base != nil && r.Head != nil
		})
		if rows[i].Verdict == Inconclusive && at >= 0 {
			rows[i] = second[at]
		}
	}
	return rows
}

// nothing returns an error that explains why the head has no measurements.
func (c Config) nothing() error {
	if c.Filter != "" {
		return fmt.Errorf("no measurement of the head's benchmarks %q is kept by the filter %q", c.Bench, c.Filter)
	}
	return fmt.Errorf("no benchmark of the head matches %q", c.Bench)
}
