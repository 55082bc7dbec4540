package gate

import (
	"errors"
	"fmt"
	"regexp"
	"runtime"
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
