package etcd

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/stats"

	"github.com/meshmatch/meshmatch/core/app/internal/source"
)

// witnesses show after a loss whether the store was set back: a restored store may have the same
// identity and term, and a revision that has passed the old one. Then its keys were not, at a
// revision that was read, what they were then. The zero value has seen nothing.
type witnesses struct {
	last  []witness // the keys that changed last, by revision, up to maxWitnesses
	keys  int64     // the number of all keys; -1: a list is not complete
	known int64     // the revision at which the keys were so
}

const maxWitnesses = 8

type witness struct {
	key      string
	revision int64
	value    []byte // nil: it was deleted
}

// list begins a list of all keys.
func (w *witnesses) list() { *w = witnesses{keys: -1} }

// listed ends a list of a number of keys.
func (w *witnesses) listed(keys, revision int64) { w.keys, w.known = keys, revision }

// event adds a change of a key.
func (w *witnesses) event(e *clientv3.Event) {
	switch {
	case w.keys < 0:
	case e.Type == clientv3.EventTypeDelete:
		w.keys--
	case e.IsCreate():
		w.keys++
	}
	w.known = e.Kv.ModRevision
	w.add(e.Kv, e.Type == clientv3.EventTypeDelete)
}

// add adds the last change of a key, unless there are enough later ones.
func (w *witnesses) add(kv *mvccpb.KeyValue, deleted bool) {
	if len(w.last) == maxWitnesses && kv.ModRevision < w.last[0].revision {
		return
	}
	next := witness{key: string(kv.Key), revision: kv.ModRevision}
	if !deleted {
		next.value = append([]byte{}, kv.Value...)
	}
	w.last = slices.DeleteFunc(w.last, func(old witness) bool { return old.key == next.key })
	at, _ := slices.BinarySearchFunc(w.last, next, func(a, b witness) int { return cmp.Compare(a.revision, b.revision) })
	if w.last = slices.Insert(w.last, at, next); len(w.last) > maxWitnesses {
		w.last = slices.Delete(w.last, 0, 1)
	}
}

// witness changes the witnesses.
func (s *Store) witness(change func(*witnesses)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.witnesses)
}

// continued returns [source.ErrSetBack] if the store does not have the history of a revision that was
// read. Of a revision that is compacted nothing is known.
func (s *Store) continued(ctx context.Context, read source.Revision) error {
	s.mu.Lock()
	w := s.witnesses
	w.last = slices.Clone(w.last)
	s.mu.Unlock()
	revision := max(w.known, int64(read))
	if w.keys < 0 || w.known == 0 {
		return nil
	}
	differs := func(what string) error {
		return fmt.Errorf("%w: at revision %d it has not %s", source.ErrSetBack, revision, what)
	}
	all, err := s.get(ctx, s.key(""), clientv3.WithPrefix(), clientv3.WithCountOnly(), clientv3.WithRev(revision))
	if err != nil {
		return ignoreCompacted(err)
	}
	if all.Count != w.keys {
		return differs("the keys that it had")
	}
	for i := range w.last {
		last := &w.last[i]
		response, err := s.get(ctx, last.key, clientv3.WithRev(revision))
		if err != nil {
			return ignoreCompacted(err)
		}
		same := len(response.Kvs) == 0 && last.value == nil
		for _, kv := range response.Kvs {
			same = last.value != nil && kv.ModRevision == last.revision && bytes.Equal(kv.Value, last.value)
		}
		if !same {
			return differs("the version of " + last.key + " that it had")
		}
	}
	return nil
}

func ignoreCompacted(err error) error {
	switch {
	case errors.Is(err, rpctypes.ErrCompacted):
		return nil
	case errors.Is(err, rpctypes.ErrFutureRev):
		return fmt.Errorf("%w: %w", source.ErrSetBack, err)
	}
	return err
}

// connections counts the connections of a client. A store can be set back only while there is none to
// it. It implements [stats.Handler].
type connections struct{ atomic.Int64 }

func (c *connections) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

func (c *connections) HandleConn(_ context.Context, s stats.ConnStats) {
	if _, begins := s.(*stats.ConnBegin); begins {
		c.Add(1)
	}
}

func (c *connections) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

func (c *connections) HandleRPC(context.Context, stats.RPCStats) {}
