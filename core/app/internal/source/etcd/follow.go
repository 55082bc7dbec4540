package etcd

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/meshmatch/meshmatch/core/app/internal/source"
)

// Follow implements [source.Store].
func (s *Store) Follow(ctx context.Context, since source.Since) iter.Seq2[*source.Page, error] {
	return func(yield func(*source.Page, error) bool) {
		f := &follower{Store: s, yield: yield}
		if err := f.run(ctx, since); err != nil && ctx.Err() == nil && !f.stopped {
			yield(nil, err)
		}
	}
}

// follower is one call of Follow.
type follower struct {
	*Store
	yield   func(*source.Page, error) bool
	stopped bool // by the caller
	at      int64
	hold    hold
	// connected is the number of connections when the history was last verified.
	connected int64
}

// page yields a page, and reports whether the caller continues.
func (f *follower) page(p *source.Page) bool {
	f.stopped = f.stopped || !f.yield(p, nil)
	return !f.stopped
}

func (f *follower) run(ctx context.Context, since source.Since) error {
	follows, err := f.continues(ctx, since)
	if err != nil {
		return err
	}
	if !follows {
		if err := f.listAll(ctx, since); err != nil || f.stopped {
			return err
		}
	}
	err = f.watch(ctx)
	if errors.Is(err, rpctypes.ErrCompacted) && ctx.Err() == nil && !f.stopped {
		f.hold = hold{}
		if err = f.listAll(ctx, source.Since{Revision: source.Revision(f.at)}); err == nil && !f.stopped {
			err = f.watch(ctx)
		}
	}
	return err
}

// continues reports whether the changes since a state can be watched.
func (f *follower) continues(ctx context.Context, since source.Since) (bool, error) {
	if since.List || since.Revision == 0 {
		return false, nil
	}
	response, err := f.get(ctx, f.key(applyKey), clientv3.WithKeysOnly())
	if err != nil {
		return false, err
	}
	if response.Header.Revision < int64(since.Revision) {
		return false, setBack(response.Header.Revision, since.Revision)
	}
	if err := f.continued(ctx, since.Revision); err != nil {
		return false, err
	}
	f.at = int64(since.Revision)
	return f.recorded(response.Header), nil
}

// listAll yields all objects.
func (f *follower) listAll(ctx context.Context, since source.Since) error {
	first := true
	var failure error
	keys := int64(0)
	f.witness((*witnesses).list)
	revision, err := f.list(ctx, func(revision int64, kvs []*mvccpb.KeyValue, more bool) bool {
		if revision < int64(since.Revision) {
			failure = setBack(revision, since.Revision)
			return false
		}
		p := &source.Page{Revision: source.Revision(revision), Full: first}
		first = false
		keys += int64(len(kvs))
		for _, kv := range kvs {
			f.witness(func(w *witnesses) { w.add(kv, false) })
			if o, ok := f.object(kv); ok {
				p.Objects = append(p.Objects, o)
			} else {
				f.hold.put(f.name(kv), kv, time.Now())
			}
		}
		// The store's own keys sort before the keys of resources, so they are in the first pages.
		p.More = more || f.hold.isHeld()
		p.Held = f.hold.reason(time.Now())
		return f.page(p)
	})
	f.at = revision
	if failure == nil && err == nil && !f.stopped {
		f.witness(func(w *witnesses) { w.listed(keys, revision) })
	}
	return errors.Join(failure, err)
}

// watch yields the changes after f.at until the watch ends.
func (f *follower) watch(ctx context.Context) error {
	client, err := f.connection()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(clientv3.WithRequireLeader(ctx))
	defer cancel(nil)
	beat := &beat{f: f, client: client, confirmed: make(chan int64), progress: make(chan struct{}, 1)}
	beat.watched.Store(f.at)
	go func() { cancel(beat.run(ctx)) }() // also ends a Watch that waits for a connection
	responses := client.Watch(ctx, f.key(""), clientv3.WithPrefix(), clientv3.WithRev(f.at+1))
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case confirmed := <-beat.confirmed:
			if err := f.verify(ctx); err != nil {
				return err
			}
			if f.confirm(confirmed); f.stopped {
				return nil
			}
		case response, open := <-responses:
			if !open {
				return errors.New("the watch has ended")
			}
			if err := response.Err(); err != nil {
				return err
			}
			if !f.sameCluster(response.Header) {
				return errOther
			}
			if err := f.verify(ctx); err != nil {
				return err
			}
			if err := f.changes(ctx, &response); err != nil || f.stopped {
				return err
			}
			if len(response.Events) > 0 {
				beat.reached(f.at)
			} else if !response.Created {
				beat.reached(response.Header.Revision)
			}
		}
	}
}

// verify returns [source.ErrSetBack] if the store was set back since the last call. A watch goes on
// after a connection was lost, without an error.
func (f *follower) verify(ctx context.Context) error {
	connected := f.connections.Load()
	if connected == f.connected {
		return nil
	}
	f.connected = connected
	return f.continued(ctx, source.Revision(f.at))
}

// confirm yields that the state of a revision is the newest one.
func (f *follower) confirm(revision int64) {
	f.at = max(f.at, revision)
	p := &source.Page{Revision: source.Revision(f.at), More: f.hold.isHeld(), Held: f.hold.reason(time.Now())}
	f.page(p)
}

// changes yields the events of a response: first those up to the last state that is
// complete, then the others.
func (f *follower) changes(ctx context.Context, response *clientv3.WatchResponse) error {
	p := &source.Page{}
	complete := 0 // the number of objects up to the last complete state
	var completeAt int64
	for i, e := range response.Events {
		name := f.name(e.Kv)
		f.witness(func(w *witnesses) { w.event(e) })
		switch {
		case !isOwn(name):
			o, _ := f.object(e.Kv)
			if e.Type == clientv3.EventTypeDelete {
				o = source.Object{Key: name}
			}
			p.Objects = append(p.Objects, o)
		case e.Type == clientv3.EventTypePut:
			f.hold.put(name, e.Kv, time.Now())
		case name == applyKey && !f.completes(response.Events, e.Kv.ModRevision):
			if err := f.removed(ctx, &f.hold); err != nil {
				return err
			}
		}
		f.at = e.Kv.ModRevision
		if last := i == len(response.Events)-1; (last || response.Events[i+1].Kv.ModRevision != f.at) && !f.hold.isHeld() {
			complete, completeAt = len(p.Objects), f.at
		}
	}
	if completeAt > 0 && !f.page(&source.Page{Revision: source.Revision(completeAt), Objects: p.Objects[:complete:complete]}) {
		return nil
	}
	if rest := p.Objects[complete:]; len(rest) > 0 || f.hold.isHeld() && len(response.Events) > 0 {
		f.page(&source.Page{Revision: source.Revision(f.at), More: true, Objects: rest, Held: f.hold.reason(time.Now())})
	}
	return nil
}

// completes reports whether the transaction of a revision wrote that an apply is complete.
func (f *follower) completes(events []*clientv3.Event, revision int64) bool {
	return slices.ContainsFunc(events, func(e *clientv3.Event) bool {
		return e.Kv.ModRevision == revision && e.Type == clientv3.EventTypePut && f.name(e.Kv) == lastKey
	})
}

var (
	errHangs = fmt.Errorf("the watch does not reach the revision of the cluster within %v", timeout)
	errOther = errors.New("it is another cluster than before, or an older copy of it")
)
