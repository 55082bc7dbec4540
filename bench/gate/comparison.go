package gate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"slices"
)

// MinRounds is the least number of rounds: of fewer runs on a shared machine
// neither the best one nor the U test says enough.
const MinRounds = 10

// A Config says what to compare and how.
type Config struct {
	// Base is a directory, a test binary or a git revision. Of a revision, the
	// merge base with the head's commit is taken: the head is not blamed for
	// what has happened on the revision's branch since.
	Base string
	// Head is a directory or a test binary.
	Head string
	// Packages are the patterns of the packages to build in directories.
	Packages []string
	// Bench is the regular expression of the benchmarks, as for go test -bench.
	Bench string
	// BenchTime is as for go test -benchtime; "" is the testing package's
	// default.
	BenchTime string
	// CPU is GOMAXPROCS of the runs.
	CPU int
	// Rounds is how often both sides run, at least MinRounds.
	Rounds int
	// Filter keeps measurements, in the syntax of benchproc: -.unit:sec/op
	// gates everything but time.
	Filter string
	Limits Limits
	// Progress may be nil.
	Progress *Progress
}

// DefaultConfig compares the current directory's packages with base.
func DefaultConfig(base string) Config {
	return Config{
		Base: base, Head: ".", Packages: []string{"./..."}, Bench: ".",
		CPU: runtime.GOMAXPROCS(0), Rounds: MinRounds, Limits: DefaultLimits(),
	}
}

// Validate refuses a configuration that can not be meant.
func (c Config) Validate() error {
	errs := []error{c.Limits.Validate()}
	if c.Base == "" {
		errs = append(errs, errors.New("there is no base: name a revision, a directory or a test binary"))
	}
	if c.Rounds < MinRounds {
		errs = append(errs, fmt.Errorf("%d rounds are too few: at least %d", c.Rounds, MinRounds))
	}
	if c.CPU < 1 {
		errs = append(errs, errors.New("a run needs at least one CPU"))
	}
	if _, err := regexp.Compile(c.Bench); err != nil {
		errs = append(errs, err)
	}
	if _, err := NewLoader(c.Filter); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// A Comparison is the outcome of the gate.
type Comparison struct {
	Base, Head string // what was compared
	Rounds     int
	Rows       []Row
}

// OK tells whether the gate passes.
func (c *Comparison) OK() bool {
	return !slices.ContainsFunc(c.Rows, func(r Row) bool { return r.Verdict.Fails() })
}

// Warnings returns what does not fail the gate but should be seen.
func (c *Comparison) Warnings() []string {
	var warnings []string
	judged := false
	for _, row := range c.Rows {
		switch row.Verdict {
		case Missing:
			warnings = append(warnings, fmt.Sprintf("%s: %s: %s", row.Benchmark.Name, row.Unit.Name, row.Reason))
		case New, Ungated:
		default:
			judged = true
		}
	}
	if !judged {
		warnings = append(warnings, "nothing was compared: base and head have no benchmark in common")
	}
	return warnings
}

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
		return nil, fmt.Errorf("no benchmark of the head matches %q", c.Bench)
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
