package etcd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/meshmatch/meshmatch/core/app/internal/source"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Stored is what a store has at one revision.
type Stored struct {
	Revision int64
	Objects  []source.Object
	// Interrupted reports that the last write in several transactions is not complete.
	Interrupted bool

	revisions map[string]int64 // of the last change of each key, by its name
}

// Write is a document to write, or a key to delete.
type Write struct {
	ID       resource.ID
	Document []byte // nil: the key is deleted
}

// The limits of one transaction.
const (
	maxOperations = 128
	maxBytes      = 1 << 20
)

// leaseSeconds is how long followers wait for a writer that has died.
const leaseSeconds = 15

var (
	// ErrConflict indicates that a key that was to be written has changed since it was read.
	// Nothing was written.
	ErrConflict = errors.New("the store has changed since it was read")

	// ErrInProgress indicates that another write in several transactions is in progress.
	ErrInProgress = errors.New("another apply is in progress; try again when it is complete")
)

// Read reads what is stored.
func (s *Store) Read(ctx context.Context) (*Stored, error) {
	out := &Stored{revisions: map[string]int64{}}
	var h hold
	revision, err := s.list(ctx, func(_ int64, kvs []*mvccpb.KeyValue, _ bool) bool {
		for _, kv := range kvs {
			if o, ok := s.object(kv); ok {
				out.Objects = append(out.Objects, o)
				out.revisions[o.Key] = kv.ModRevision
			} else {
				h.put(s.name(kv), kv, time.Now())
			}
		}
		return true
	})
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", s, err)
	}
	if h.lease != 0 {
		return nil, fmt.Errorf("%s: %w", s, ErrInProgress)
	}
	out.Revision, out.Interrupted = revision, h.interrupted != ""
	return out, nil
}

// Write writes changes of what was read, all or none, and returns the revision. Readers
// see all of them at once. The error is [ErrConflict], with the first key, if a key has
// changed since. Without changes it writes nothing, unless an earlier write was
// interrupted: then it completes that.
func (s *Store) Write(ctx context.Context, read *Stored, changes []Write) (int64, error) {
	if len(changes) == 0 && !read.Interrupted {
		return read.Revision, nil
	}
	client, err := s.connection()
	if err != nil {
		return 0, err
	}
	w := &writer{Store: s, client: client}
	chunks := w.chunks(read, changes)
	if len(chunks) == 1 && !read.Interrupted {
		revision, err := w.commit(ctx, chunks[0], nil, nil)
		return revision, inDoubt(err)
	}
	return w.parts(ctx, chunks, len(changes))
}

// writer writes to a store.
type writer struct {
	*Store
	client *clientv3.Client
}

// write is a change of one key.
type write struct {
	name     string
	revision int64 // of the key when it was read; 0: it did not exist
	document []byte
}

// chunks divides changes into transactions.
func (w *writer) chunks(read *Stored, changes []Write) [][]write {
	var all []write
	total := 0
	for _, c := range changes {
		name := Key(c.ID)
		all = append(all, write{name, read.revisions[name], c.Document})
		total += len(c.Document) + len(name)
	}
	if len(all) <= maxOperations && total <= maxBytes && !read.Interrupted {
		return [][]write{all}
	}
	slices.SortFunc(all, func(a, b write) int { return strings.Compare(a.name, b.name) })
	var chunks [][]write
	size := maxBytes + 1
	for _, c := range all {
		size += len(c.document) + len(c.name)
		// One comparison of each transaction is that the write is still in progress.
		if last := len(chunks) - 1; size > maxBytes || len(chunks[last]) == maxOperations-1 {
			chunks, size = append(chunks, nil), len(c.document)+len(c.name)
		}
		last := len(chunks) - 1
		chunks[last] = append(chunks[last], c)
	}
	return chunks
}

// commit is one transaction: the writes and further operations, if no key has changed
// and the further conditions hold. If not, the error is [ErrConflict] with the first key that has
// changed, or [ErrInProgress].
func (w *writer) commit(ctx context.Context, writes []write, conditions []clientv3.Cmp, further []clientv3.Op) (revision int64, err error) {
	operations := slices.Clone(further)
	conditions = slices.Clone(conditions)
	var reads []clientv3.Op
	for _, c := range writes {
		key := w.key(c.name)
		conditions = append(conditions, clientv3.Compare(clientv3.ModRevision(key), "=", c.revision))
		reads = append(reads, clientv3.OpGet(key, clientv3.WithKeysOnly()))
		if c.document == nil {
			operations = append(operations, clientv3.OpDelete(key))
		} else {
			operations = append(operations, clientv3.OpPut(key, string(c.document)))
		}
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	response, err := w.client.Txn(ctx).If(conditions...).Then(operations...).Else(reads...).Commit()
	if err != nil {
		return 0, w.failure(w.readable(err))
	}
	if response.Succeeded {
		return response.Header.Revision, nil
	}
	for i, now := range revisions(response) {
		if now != writes[i].revision {
			return 0, w.conflict(writes[i].name)
		}
	}
	return 0, fmt.Errorf("%s: %w", w, ErrInProgress)
}

// revisions returns the revision of the last change of each key that a transaction read; 0 if it
// does not exist.
func revisions(response *clientv3.TxnResponse) []int64 {
	all := make([]int64, len(response.Responses))
	for i, r := range response.Responses {
		if kvs := r.GetResponseRange().Kvs; len(kvs) > 0 {
			all[i] = kvs[0].ModRevision
		}
	}
	return all
}

func (w *writer) failure(err error) error { return fmt.Errorf("%s cannot be written: %w", w, err) }

func (w *writer) conflict(key string) error { return fmt.Errorf("%s: %w: %s", w, ErrConflict, key) }

// inDoubt returns the error of the last transaction of a write, which may have been
// committed without an answer.
func inDoubt(err error) error {
	if errors.Is(err, errNoAnswer) {
		return fmt.Errorf("%w; it may be written all the same: apply again", err)
	}
	return err
}

// parts writes several transactions, while the key -/apply exists.
func (w *writer) parts(ctx context.Context, chunks [][]write, n int) (int64, error) {
	lease, err := w.client.Grant(ctx, leaseSeconds)
	if err != nil {
		return 0, w.failure(err)
	}
	alive, stop := context.WithCancel(ctx)
	defer stop()
	renewals, err := w.client.KeepAlive(alive, lease.ID)
	if err != nil {
		return 0, w.failure(err)
	}
	go func() {
		for range renewals { // nothing is done with them, and they must be taken
		}
	}()
	began := last{Time: time.Now().UTC(), Resources: n}
	absent := []clientv3.Cmp{clientv3.Compare(clientv3.LeaseValue(w.key(applyKey)), "=", 0)}
	holding, err := w.commit(ctx, nil, absent, []clientv3.Op{
		clientv3.OpPut(w.key(applyKey), began.text(), clientv3.WithLease(lease.ID)), clientv3.OpPut(w.key(lastKey), began.text()),
	})
	if err != nil && !errors.Is(err, ErrInProgress) {
		// The key may have been written all the same. Nothing else was.
		own := []clientv3.Cmp{clientv3.Compare(clientv3.LeaseValue(w.key(applyKey)), "=", lease.ID)}
		_, _ = w.commit(context.WithoutCancel(ctx), nil, own, w.release(last{Time: time.Now().UTC(), Complete: true})) // or the lease ends
	}
	if err != nil {
		return 0, err
	}
	held := []clientv3.Cmp{clientv3.Compare(clientv3.ModRevision(w.key(applyKey)), "=", holding)}
	previous, err := w.previous(ctx, chunks)
	if err != nil {
		return 0, w.abandon(ctx, held, nil, err, nil)
	}
	var undo [][]write
	for _, chunk := range chunks {
		revision, err := w.commit(ctx, chunk, held, nil)
		switch {
		case errors.Is(err, ErrConflict), errors.Is(err, ErrInProgress):
			return 0, w.abandon(ctx, held, undo, err, nil)
		case err != nil:
			return 0, w.abandon(ctx, held, undo, err, &doubt{chunk, previous})
		}
		undo = append(undo, undone(chunk, previous, revision))
	}
	began.Complete = true
	revision, err := w.commit(ctx, nil, held, w.release(began))
	return revision, inDoubt(err)
}

func (l last) text() string {
	text, err := json.Marshal(l)
	if err != nil {
		panic(err) // a struct of plain values
	}
	return string(text)
}

// release are the operations that end a write.
func (w *writer) release(l last) []clientv3.Op {
	return []clientv3.Op{clientv3.OpDelete(w.key(applyKey)), clientv3.OpPut(w.key(lastKey), l.text())}
}

// previous returns the documents of the keys of chunks. The error is [ErrConflict] with the first
// key that has changed.
func (w *writer) previous(ctx context.Context, chunks [][]write) (map[string][]byte, error) {
	documents, now := map[string][]byte{}, map[string]int64{}
	_, err := w.list(ctx, func(_ int64, kvs []*mvccpb.KeyValue, _ bool) bool {
		for _, kv := range kvs {
			documents[w.name(kv)], now[w.name(kv)] = kv.Value, kv.ModRevision
		}
		return true
	})
	if err != nil {
		return nil, w.failure(err)
	}
	for _, chunk := range chunks {
		for _, c := range chunk {
			if now[c.name] != c.revision {
				return nil, w.conflict(c.name)
			}
		}
	}
	return documents, nil
}

// undone returns the writes that undo a transaction.
func undone(chunk []write, previous map[string][]byte, revision int64) []write {
	var undo []write
	for _, c := range chunk {
		u := write{name: c.name, revision: revision, document: previous[c.name]}
		if c.document == nil {
			u.revision = 0
		}
		if u.document != nil || u.revision != 0 {
			undo = append(undo, u)
		}
	}
	return undo
}

// doubt is a transaction without an answer: it may have been committed, or may still be.
type doubt struct {
	chunk    []write
	previous map[string][]byte
}

// settle finds out whether the transaction was committed. If so, it returns how to undo
// it. Otherwise it returns the conditions under which nothing of it exists: they belong
// to the transaction that ends the write. After it the write can no longer be
// committed, because the key -/apply is gone.
func (w *writer) settle(ctx context.Context, d *doubt) (undo [][]write, absent []clientv3.Cmp, err error) {
	var reads []clientv3.Op
	for _, c := range d.chunk {
		reads = append(reads, clientv3.OpGet(w.key(c.name), clientv3.WithKeysOnly()))
		absent = append(absent, clientv3.Compare(clientv3.ModRevision(w.key(c.name)), "=", c.revision))
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	response, err := w.client.Txn(ctx).Then(reads...).Commit()
	if err != nil {
		return nil, nil, err
	}
	for i, now := range revisions(response) {
		if c := d.chunk[i]; now != c.revision && (now == 0) == (c.document == nil) {
			return [][]write{undone(d.chunk, d.previous, now)}, nil, nil
		}
	}
	return nil, absent, nil
}

// abandon undoes what was written, and ends the write. It returns the cause. If something
// cannot be undone, the write stays interrupted.
func (w *writer) abandon(ctx context.Context, held []clientv3.Cmp, undo [][]write, cause error, inDoubt *doubt) error {
	ctx = context.WithoutCancel(ctx) // so that an interrupt does not leave half of a write
	ends := held
	if inDoubt != nil {
		more, absent, err := w.settle(ctx, inDoubt)
		if err != nil {
			return fmt.Errorf("%w; what was written until then could not be undone: apply again", cause)
		}
		undo, ends = append(undo, more...), slices.Concat(held, absent)
	}
	for _, chunk := range undo {
		if _, err := w.commit(ctx, chunk, held, nil); err != nil {
			return fmt.Errorf("%w; what was written until then could not be undone: apply again", cause)
		}
	}
	if _, err := w.commit(ctx, nil, ends, w.release(last{Time: time.Now().UTC(), Complete: true})); err != nil {
		return fmt.Errorf("%w; the write could not be ended: apply again", cause)
	}
	return cause
}
