package gate

import (
	"errors"
	"fmt"
	"regexp"
	"runtime"
)

// MinRounds is the minimum number of rounds. With fewer runs on a shared
// machine, neither the best time nor the U test is reliable.
const MinRounds = 10

// A Config describes what to compare and how.
type Config struct {
	// Base is a directory, a test binary or a git revision. For a revision, its
	// merge base with the head's commit is used, so that later changes on the
	// revision's branch are not attributed to the head.
	Base string
	// Head is a directory or a test binary.
	Head string
	// Packages are the patterns of the packages to build in directories.
	Packages []string
	// renameList lists the benchmarks of the base that have another name in the
	// head.
	Renames renameList
	// Bench is the regular expression of the benchmarks, as in go test -bench.
	Bench string
	// Skip is the regular expression of benchmarks that do not run, as in go
	// test -skip; "" skips none.
	Skip string
	// BenchTime is the duration of a benchmark, as in go test -benchtime; ""
	// means the testing package's default.
	BenchTime string
	// CPU is the value of GOMAXPROCS in the runs.
	CPU int
	// Rounds is the number of times that both sides run, at least MinRounds.
	// MaxRounds is the maximum number of times that an inconclusive benchmark
	// runs; 0 means 5 times Rounds.
	Rounds, MaxRounds int
	// Filter selects measurements, in the syntax of benchproc: -.unit:sec/op
	// gates everything except time.
	Filter string
	Limits Limits
	// FailOn are verdicts that fail the gate in addition to Worse and Suspect:
	// Inconclusive, Missing.
	FailOn []Verdict
	// Progress is called with each step of the work, which a terminal can show. It
	// may be nil.
	Progress func(step string)
}

// DefaultConfig compares the current directory's packages with base.
func DefaultConfig(base string) Config {
	return Config{
		Base: base, Head: ".", Packages: []string{"./..."}, Bench: ".",
		CPU: runtime.GOMAXPROCS(0), Rounds: MinRounds, Limits: DefaultLimits(),
	}
}

// Validate returns an error for an invalid configuration.
func (c Config) Validate() error {
	errs := []error{c.Limits.Validate()}
	if c.Base == "" {
		errs = append(errs, errors.New("there is no base: give a revision, a directory or a test binary"))
	}
	if c.Rounds < MinRounds {
		errs = append(errs, fmt.Errorf("%d rounds are too few: at least %d", c.Rounds, MinRounds))
	}
	if c.MaxRounds != 0 && c.MaxRounds < c.Rounds {
		errs = append(errs, fmt.Errorf("at most %d rounds are fewer than %d rounds", c.MaxRounds, c.Rounds))
	}
	if c.CPU < 1 {
		errs = append(errs, errors.New("a run needs at least one CPU"))
	}
	for _, expression := range []string{c.Bench, c.Skip} {
		if _, err := regexp.Compile(expression); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(append(errs, ValidateFilter(c.Filter))...)
}

func (c Config) step(format string, args ...any) {
	if c.Progress != nil {
		c.Progress(fmt.Sprintf(format, args...))
	}
}

func (c Config) maxRounds() int {
	if c.MaxRounds == 0 {
		return 5 * c.Rounds
	}
	return c.MaxRounds
}
