package main

import (
	"context"
	"fmt"
	"runtime"
	"time"
)

// A plan is how long to measure.
type plan struct {
	rounds int
	round  time.Duration // the least duration of one contender's part of a round
}

// A series is the measurements of one contender, one for each round.
type series struct {
	name   string
	values []float64
	allocs []float64 // of one operation; nil if the contender samples
}

// measure measures the contenders of a contest in alternating rounds: forwards and backwards
// in turn, so that none always runs after the same other one.
func measure(ctx context.Context, c *contest, p plan) ([]series, error) {
	results := make([]series, len(c.contenders))
	repetitions := make([]int, len(c.contenders))
	for i, contender := range c.contenders {
		results[i].name = contender.name
		if contender.sample != nil {
			continue
		}
		n, err := calibrate(contender, p.round)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", contender.name, err)
		}
		repetitions[i] = n
	}
	for round := range p.rounds {
		for k := range c.contenders {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			i := k
			if round%2 == 1 {
				i = len(c.contenders) - 1 - k
			}
			if err := results[i].add(c.contenders[i], repetitions[i]); err != nil {
				return nil, fmt.Errorf("%s: %w", c.contenders[i].name, err)
			}
		}
	}
	return results, nil
}

// calibrate returns how often a contender does the work within a round.
func calibrate(c contender, round time.Duration) (int, error) {
	for n := 1; ; {
		seconds, _, err := c.do(n)
		if err != nil {
			return 0, err
		}
		elapsed := time.Duration(seconds * float64(time.Second))
		if elapsed >= round || n >= 1e9 {
			return n, nil
		}
		// A little more than needed, and at most a hundred times as often as before.
		next := int(1.2 * float64(n) * float64(round) / float64(max(elapsed, 1)))
		n = min(max(next, n+1), 100*n)
	}
}

// do does the work n times, and returns its time and the number of its allocations.
func (c *contender) do(n int) (seconds, allocs float64, err error) {
	if c.elsewhere != nil {
		return c.elsewhere(n)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	err = c.operate(n)
	elapsed := time.Since(start)
	runtime.ReadMemStats(&after)
	return elapsed.Seconds(), float64(after.Mallocs - before.Mallocs), err
}

// samplesAgain is how often a sample is taken again that cannot be right: memory of other work was
// freed meanwhile, such as the memory of connections that have just been closed.
const samplesAgain = 3

func (s *series) add(c contender, n int) error {
	runtime.GC()
	if c.sample != nil {
		value, err := c.sample()
		for again := 0; err == nil && value <= 0 && again < samplesAgain; again++ {
			runtime.GC()
			value, err = c.sample()
		}
		if err == nil && value <= 0 {
			err = fmt.Errorf("measured %g", value)
		}
		s.values = append(s.values, value)
		return err
	}
	seconds, allocs, err := c.do(n)
	s.values = append(s.values, seconds/float64(n))
	s.allocs = append(s.allocs, allocs/float64(n))
	return err
}
