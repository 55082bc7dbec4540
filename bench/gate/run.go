package gate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
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
	first, err := newMeasurement(c, "compare", jobs)
	if err != nil {
		return nil, err
	}
	rows, err := first.decide(ctx)
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
	second, err := newMeasurement(c, "confirm", first.jobsOf(suspects))
	if err != nil {
		return nil, err
	}
	again, err := second.decide(ctx)
	if err != nil {
		return nil, err
	}
	return confirm(rows, again), nil
}

// nothing returns an error that explains why the head has no measurements.
func (c Config) nothing() error {
	if c.Filter != "" {
		return fmt.Errorf("no measurement of the head's benchmarks %q is kept by the filter %q", c.Bench, c.Filter)
	}
	return fmt.Errorf("no benchmark of the head matches %q", c.Bench)
}
