package etcdtest

import (
	"maps"
	"slices"
	"sync"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
)

// Model is a model of an etcd cluster in memory, for readers. It is written from the documentation
// of etcd's API, and has the faults of a cluster; those of a member are in [Member]. It runs in
// bubbles of package synctest, where the client of etcd cannot run: a channel of its package is
// outside of each bubble. Its methods are safe for concurrent use.
type Model struct {
	mu        sync.Mutex
	cluster   uint64
	term      uint64
	revisions []revision    // since the last compaction, the newest one last
	changed   chan struct{} // closed at the next change
	members   []*Member
}

// revision is the state after one transaction. It is not changed.
type revision struct {
	number int64
	keys   map[string]*mvccpb.KeyValue
	events []*mvccpb.Event // of the transaction
}

// NewModel returns an empty model.
func NewModel() *Model {
	return &Model{cluster: 1, term: 1, changed: make(chan struct{}), revisions: []revision{{number: 1, keys: map[string]*mvccpb.KeyValue{}}}}
}

// Put writes keys with their values in one transaction. An empty value deletes. It returns the
// revision.
func (m *Model) Put(values map[string]string) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	last := m.last()
	next := revision{number: last.number + 1, keys: maps.Clone(last.keys)}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		before := last.keys[key]
		switch {
		case values[key] != "":
			kv := &mvccpb.KeyValue{Key: []byte(key), Value: []byte(values[key]), CreateRevision: next.number, ModRevision: next.number, Version: 1}
			if before != nil {
				kv.CreateRevision, kv.Version = before.CreateRevision, before.Version+1
			}
			next.keys[key] = kv
			next.events = append(next.events, &mvccpb.Event{Type: mvccpb.Event_PUT, Kv: kv})
		case before != nil:
			delete(next.keys, key)
			next.events = append(next.events, &mvccpb.Event{Type: mvccpb.Event_DELETE, Kv: &mvccpb.KeyValue{Key: []byte(key), ModRevision: next.number}})
		}
	}
	if len(next.events) == 0 {
		return last.number
	}
	m.revisions = append(m.revisions, next)
	m.change()
	return next.number
}

// last returns the newest revision. It is called with the lock.
func (m *Model) last() *revision { return &m.revisions[len(m.revisions)-1] }

// change wakes all waiters for a change. It is called with the lock.
func (m *Model) change() {
	close(m.changed)
	m.changed = make(chan struct{})
}

// Compact forgets all revisions but the newest one.
func (m *Model) Compact() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.revisions = []revision{{number: m.last().number, keys: m.last().keys}}
	m.change()
}

// Backup is a state that [Model.SetBack] puts back.
type Backup struct{ last revision }

// Backup returns the current state.
func (m *Model) Backup() *Backup {
	m.mu.Lock()
	defer m.mu.Unlock()
	return &Backup{revision{number: m.last().number, keys: m.last().keys}}
}

// SetBack puts a backup back, as a restored cluster does: it is another cluster, at the revision of
// the backup, and all watches end.
func (m *Model) SetBack(b *Backup) {
	m.mu.Lock()
	m.cluster, m.term = m.cluster+1, 1
	m.mu.Unlock()
	m.PutBack(b)
}

// PutBack puts a backup back, as a restored copy of the data does: the cluster has its identity and
// its term.
func (m *Model) PutBack(b *Backup) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.revisions = []revision{b.last}
	for _, member := range m.members {
		member.breakWatches()
	}
	m.change()
}

// header is called with the lock.
func (m *Model) header() *etcdserverpb.ResponseHeader {
	return &etcdserverpb.ResponseHeader{ClusterId: m.cluster, MemberId: 1, Revision: m.last().number, RaftTerm: m.term}
}
