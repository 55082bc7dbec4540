package mesh

import (
	"errors"

	"golang.org/x/sync/errgroup"
)

// InParallel calls work once for each of a number of workers, counted from 0, and
// returns their errors. A single worker runs in the calling goroutine.
func InParallel(workers int, work func(worker, workers int) error) error {
	if workers == 1 {
		return work(0, 1)
	}
	var group errgroup.Group
	for worker := range workers - 1 {
		group.Go(func() error { return work(worker+1, workers) })
	}
	return errors.Join(work(0, workers), group.Wait())
}
