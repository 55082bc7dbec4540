package gate

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// Run builds both sides, runs them in turns, compares, and runs the suspects
// once more. Everything it creates is gone when it returns, also when ctx ends.
func Run(ctx context.Context, c Config) (comparison *Comparison, err error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	temp, err := os.MkdirTemp("", "benchgate-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	defer c.Progress.Done()

	head, err := openHead(ctx, c, temp)
	if err != nil {
		return nil, err
	}
	base, done, err := openBase(ctx, c, temp)
	defer func() { err = errors.Join(err, done()) }()
	if err != nil {
		return nil, err
	}
	both, err := pairs(base, head)
	if err != nil {
		return nil, err
	}
	rows, err := compareRuns(ctx, c, both)
	if err != nil {
		return nil, err
	}
	return &Comparison{Base: base.label, Head: head.label, Rounds: c.Rounds, Rows: rows}, nil
}

// nothing tells why the head has no measurements.
func (c Config) nothing() error {
	if c.Filter != "" {
		return fmt.Errorf("no measurement of the head's benchmarks %q is kept by the filter %q", c.Bench, c.Filter)
	}
	return fmt.Errorf("no benchmark of the head matches %q", c.Bench)
}

func compareRuns(ctx context.Context, c Config, both []pair) ([]Row, error) {
	var jobs []job
	for _, p := range both {
		jobs = append(jobs, job{p, c.Bench})
	}
	r := runner{c}
	baseResults, headResults, err := r.rounds(ctx, "compare", jobs)
	if err != nil {
		return nil, err
	}
	if len(headResults.Benchmarks()) == 0 {
		return nil, c.nothing()
	}
	rows := Compare(baseResults, headResults, c.Limits)
	suspects := Suspects(rows)
	if len(suspects) == 0 {
		return rows, nil
	}
	baseResults, headResults, err = r.rounds(ctx, "confirm", r.confirmJobs(jobs, suspects))
	if err != nil {
		return nil, err
	}
	return Confirm(rows, baseResults, headResults, c.Limits), nil
}
