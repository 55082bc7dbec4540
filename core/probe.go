package core

import (
	"errors"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/meshmatch/meshmatch/core/diag"
)

// prober is what one worker needs to validate resources.
type prober struct {
	diag.Prober
	running guard
}

// probeParallelFrom is the number of resources from which several workers validate
// them. A resource takes about 1 µs, as long as starting a worker.
const probeParallelFrom = 256

// probe calls fails with the number of each of n resources, and returns for which
// of them it is true. The error is an [ErrPanic].
func probe(n int, fails func(p *prober, i int) bool) (failed []bool, err error) {
	failed = make([]bool, n)
	work := func(from, to int) (err error) {
		var p prober
		defer p.running.recover(&err) // Validate methods of kinds
		for i := from; i < to; i++ {
			failed[i] = fails(&p, i)
		}
		return nil
	}
	workers := 1
	if n >= probeParallelFrom {
		workers = runtime.GOMAXPROCS(0)
	}
	var group errgroup.Group
	for worker := 1; worker < workers; worker++ {
		group.Go(func() error { return work(n*worker/workers, n*(worker+1)/workers) })
	}
	return failed, errors.Join(work(0, n/workers), group.Wait())
}
