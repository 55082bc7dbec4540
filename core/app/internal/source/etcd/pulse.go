package etcd

import (
	"cmp"
	"context"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/meshmatch/meshmatch/core/app/internal/source"
)

// beat confirms the state of a watch: it reads the revision of the cluster, and waits
// until the watch has reached it.
type beat struct {
	f         *follower
	client    *clientv3.Client
	confirmed chan int64 // revisions that the watch has reached
	progress  chan struct{}
	watched   atomic.Int64 // the revision that the watch has reached
}

// reached records the revision that the watch has reached.
func (b *beat) reached(revision int64) {
	b.watched.Store(revision)
	select {
	case b.progress <- struct{}{}:
	default:
	}
}

// run confirms the state in intervals until the context ends or a request fails.
func (b *beat) run(ctx context.Context) error {
	since := source.Revision(b.watched.Load())
	for {
		revision, err := b.confirm(ctx, since)
		if err != nil {
			return err
		}
		since = source.Revision(revision)
		select {
		case b.confirmed <- revision:
		case <-ctx.Done():
			return ctx.Err()
		}
		select {
		case <-time.After(pulse):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// confirm returns a revision of the cluster that the watch has reached.
func (b *beat) confirm(ctx context.Context, since source.Revision) (int64, error) {
	response, err := b.f.get(ctx, b.f.key(applyKey), clientv3.WithKeysOnly())
	if err != nil {
		return 0, err
	}
	revision := response.Header.Revision
	if revision < int64(since) {
		return 0, setBack(revision, since)
	}
	if !b.f.recorded(response.Header) {
		return 0, errOther
	}
	b.f.remember(response.Header)
	limited, cancel := context.WithTimeoutCause(ctx, timeout, errHangs)
	defer cancel()
	for b.watched.Load() < revision {
		if err := b.client.RequestProgress(limited); err != nil {
			return 0, cmp.Or(context.Cause(limited), err)
		}
		select {
		case <-b.progress:
		case <-time.After(timeout / 10): // a request of progress has no answer while events are sent
		case <-limited.Done():
			return 0, context.Cause(limited)
		}
	}
	return revision, nil
}
