package main

import (
	"context"
	"fmt"
)

// A comparison is one kind of work on one input, done by several contenders.
type comparison struct {
	subject string // the heading on the page
	label   string // short, for the picture
	work    string
	input   string
	source  string // the repository, file and commit that the input follows; "": it is of package shape
	unit    string // "s" (time of one operation) or "B" (heap of one proxy)
	note    string // what a reader needs to judge the ratio; may be empty
	rounds  int    // fewer than in the plan, if one takes long; 0: as in the plan
	kuma    bool   // Kuma is a contender
	prepare func(ctx context.Context, size size) (*contest, error)
}

// String returns what identifies the comparison on the page.
func (c comparison) String() string { return c.subject + ": " + c.work + ": " + c.input }

// size scales the inputs: a full run has the inputs of the page, a test smaller ones.
type size struct{ full bool }

// pick returns the number of the run: that of a full one, or that of a small one.
func (s size) pick(full, small int) int {
	if s.full {
		return full
	}
	return small
}

// A contest is a prepared comparison. The first contender is meshmatch.
type contest struct {
	contenders []contender
	close      func()         // may be nil
	memory     func() float64 // of Kuma's process until now, at most, in bytes; nil: it has none
	// missing is why Kuma is no contender although it should be; nil: it is one, or has no
	// such work.
	missing error
}

// A contender does the work of a comparison.
type contender struct {
	name string
	// answer does the work once and returns the result in a form that is equal for all
	// contenders. It is not measured.
	answer func() (string, error)
	// operate does the work n times. It is nil if elsewhere or sample is set.
	operate func(n int) error
	// elsewhere has another process do the work n times, and returns what that process
	// measured for all of them together: the time, and the number of allocations.
	elsewhere func(n int) (seconds, allocs float64, err error)
	// sample returns one measurement in the unit of the comparison.
	sample func() (float64, error)
}

// check returns an error if the answers of the contenders differ.
func (c *contest) check() error {
	var first string
	for i, contender := range c.contenders {
		answer, err := contender.answer()
		if err != nil {
			return fmt.Errorf("%s: %w", contender.name, err)
		}
		if i == 0 {
			first = answer
		} else if answer != first {
			return fmt.Errorf("%s answers %.300q, and %s %.300q", c.contenders[0].name, first, contender.name, answer)
		}
	}
	return nil
}

// repeat returns an operation that does the work n times.
func repeat(work func() error) func(n int) error {
	return func(n int) error {
		for range n {
			if err := work(); err != nil {
				return err
			}
		}
		return nil
	}
}

// comparisons returns all comparisons in the order of the page. The served graph of mesh-perf
// has the given number of services.
func comparisons(services int) []comparison {
	var all []comparison
	for _, list := range [][]comparison{matching(), memberships(), effectiveConfs(), proxyResources(), permissions(), merges(), decoding(), serving(services), alone()} {
		all = append(all, list...)
	}
	return all
}
