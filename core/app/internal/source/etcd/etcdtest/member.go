package etcdtest

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// Member is what one client sees of a [Model]. Its methods are safe for concurrent use.
type Member struct {
	*Model
	// The following are used with the lock of the model.
	lost, hangs bool
	delay       time.Duration
	broken      chan struct{}          // closed when all watches end
	watches     map[*watching]struct{} // those that have not ended
}

// Member returns another member.
func (m *Model) Member() *Member {
	m.mu.Lock()
	defer m.mu.Unlock()
	member := &Member{Model: m, broken: make(chan struct{}), watches: map[*watching]struct{}{}}
	m.members = append(m.members, member)
	return member
}

// Client returns a client for etcd.Options.Client: it reads and watches.
func (m *Member) Client() *clientv3.Client {
	c := clientv3.NewCtxClient(context.Background())
	c.KV, c.Watcher = memberKV{m: m}, memberWatcher{m}
	return c
}

// edit changes the faults, and wakes all waiters.
func (m *Member) edit(edit func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	edit()
	m.change()
}

// Lose makes the member unreachable until Restore: requests wait, and watches send nothing, as the
// client of etcd connects again by itself.
func (m *Member) Lose() { m.edit(func() { m.lost = true }) }

// Restore ends [Member.Lose].
func (m *Member) Restore() { m.edit(func() { m.lost = false }) }

// HangWatches makes watches send nothing, and report no progress, until they hang no longer.
func (m *Member) HangWatches(hang bool) { m.edit(func() { m.hangs = hang }) }

// DelayWatches delays what watches send, as a member that lags does.
func (m *Member) DelayWatches(delay time.Duration) { m.edit(func() { m.delay = delay }) }

// BreakWatches ends all watches with an error, as a member without a leader does.
func (m *Member) BreakWatches() { m.edit(m.breakWatches) }

// breakWatches is called with the lock.
func (m *Member) breakWatches() {
	close(m.broken)
	m.broken = make(chan struct{})
}

// memberKV reads.
type memberKV struct {
	clientv3.KV
	m *Member
}

// Get implements [clientv3.KV].
func (kv memberKV) Get(ctx context.Context, key string, options ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	m := kv.m
	for {
		m.mu.Lock()
		if !m.lost {
			defer m.mu.Unlock()
			return m.read(clientv3.OpGet(key, options...))
		}
		changed := m.changed
		m.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// read reads a range. It is called with the lock.
func (m *Member) read(op clientv3.Op) (*clientv3.GetResponse, error) {
	at := m.last()
	if op.Rev() > 0 {
		i := slices.IndexFunc(m.revisions, func(x revision) bool { return x.number == op.Rev() })
		switch {
		case i >= 0:
			at = &m.revisions[i]
		case op.Rev() > at.number:
			return nil, rpctypes.ErrFutureRev
		default:
			return nil, rpctypes.ErrCompacted
		}
	}
	response := &clientv3.GetResponse{Header: m.header()}
	for _, key := range slices.Sorted(maps.Keys(at.keys)) {
		if !inRange(key, op) {
			continue
		}
		response.Count++
		if op.IsCountOnly() {
			continue
		}
		if op.Limit() > 0 && int64(len(response.Kvs)) == op.Limit() {
			response.More = true
			continue
		}
		kv := at.keys[key]
		if op.IsKeysOnly() {
			kv = &mvccpb.KeyValue{Key: kv.Key, CreateRevision: kv.CreateRevision, ModRevision: kv.ModRevision, Version: kv.Version}
		}
		response.Kvs = append(response.Kvs, kv)
	}
	return response, nil
}

// inRange reports whether a key is in the range of an operation. Without an end, the range is one key.
func inRange(key string, op clientv3.Op) bool {
	from, end := string(op.KeyBytes()), string(op.RangeBytes())
	if end == "" {
		return key == from
	}
	return strings.Compare(key, from) >= 0 && (end == "\x00" || key < end)
}

// memberWatcher watches.
type memberWatcher struct{ m *Member }

// Close implements [clientv3.Watcher].
func (memberWatcher) Close() error { return nil }

// RequestProgress implements [clientv3.Watcher].
func (w memberWatcher) RequestProgress(context.Context) error {
	w.m.edit(func() {
		for one := range w.m.watches {
			one.progress = true
		}
	})
	return nil
}

// Watch implements [clientv3.Watcher].
func (w memberWatcher) Watch(ctx context.Context, key string, options ...clientv3.OpOption) clientv3.WatchChan {
	one := &watching{m: w.m, op: clientv3.OpGet(key, options...), to: make(chan clientv3.WatchResponse)}
	w.m.mu.Lock()
	if one.next = one.op.Rev(); one.next == 0 {
		one.next = w.m.last().number + 1
	}
	w.m.watches[one] = struct{}{}
	broken := w.m.broken
	w.m.mu.Unlock()
	go one.run(ctx, broken)
	return one.to
}

// watching is a watch.
type watching struct {
	m        *Member
	op       clientv3.Op
	to       chan clientv3.WatchResponse
	next     int64 // the revision that is sent next
	progress bool  // it was asked for
}

func (w *watching) run(ctx context.Context, broken <-chan struct{}) {
	defer close(w.to)
	defer func() {
		w.m.mu.Lock()
		defer w.m.mu.Unlock()
		delete(w.m.watches, w)
	}()
	for {
		responses, delay, changed := w.responses()
		if delay > 0 && len(responses) > 0 {
			select {
			case <-time.After(delay):
			case <-ctx.Done():
				return
			}
		}
		for _, r := range responses {
			select {
			case w.to <- r:
			case <-ctx.Done():
				return
			}
			if r.Canceled {
				return
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		case <-broken:
			select {
			case w.to <- clientv3.WatchResponse{Header: &etcdserverpb.ResponseHeader{}, Canceled: true, CancelReason: rpctypes.ErrorDesc(rpctypes.ErrNoLeader)}:
			case <-ctx.Done():
			}
			return
		}
	}
}

// responses returns what the watch has not sent: a response for each transaction.
func (w *watching) responses() (responses []clientv3.WatchResponse, delay time.Duration, changed <-chan struct{}) {
	m := w.m
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lost || m.hangs {
		return nil, 0, m.changed
	}
	if oldest := m.revisions[0]; w.next < oldest.number || w.next == oldest.number && oldest.events == nil {
		return []clientv3.WatchResponse{{Header: m.header(), Canceled: true, CompactRevision: oldest.number}}, 0, m.changed
	}
	for _, r := range m.revisions {
		if r.number < w.next {
			continue
		}
		w.next = r.number + 1
		var events []*clientv3.Event
		for _, e := range r.events {
			if inRange(string(e.Kv.Key), w.op) {
				events = append(events, (*clientv3.Event)(e))
			}
		}
		if events != nil {
			header := m.header()
			header.Revision = r.number
			responses = append(responses, clientv3.WatchResponse{Header: header, Events: events})
		}
	}
	if w.progress {
		w.progress = false
		responses = append(responses, clientv3.WatchResponse{Header: m.header()})
	}
	return responses, m.delay, m.changed
}
