package etcd

import (
	"context"
	"fmt"
	"strings"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/meshmatch/meshmatch/core/app/internal/source"
)

// list reads all keys at one revision, page by page, until the caller stops. It returns the
// revision.
func (s *Store) list(ctx context.Context, page func(revision int64, kvs []*mvccpb.KeyValue, more bool) bool) (int64, error) {
	from, end := s.key(""), clientv3.GetPrefixRangeEnd(s.key(""))
	options := []clientv3.OpOption{clientv3.WithRange(end), clientv3.WithLimit(pageSize)}
	var revision int64
	var header *etcdserverpb.ResponseHeader
	for {
		response, err := s.get(ctx, from, options...)
		if err != nil {
			return 0, err
		}
		if revision == 0 {
			revision = response.Header.Revision
			options = append(options, clientv3.WithRev(revision))
			header = response.Header
		}
		if !page(revision, response.Kvs, response.More) {
			return revision, nil
		}
		if !response.More {
			s.remember(header)
			return revision, nil
		}
		from = string(response.Kvs[len(response.Kvs)-1].Key) + "\x00"
	}
}

// remember records the history of the cluster.
func (s *Store) remember(header *etcdserverpb.ResponseHeader) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.history = history{header.ClusterId, header.RaftTerm}
}

// recorded reports whether the answer to a linearizable read continues the history that was
// recorded.
func (s *Store) recorded(header *etcdserverpb.ResponseHeader) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.history.cluster == header.ClusterId && s.history.term <= header.RaftTerm
}

// sameCluster reports whether an answer is of the recorded cluster. The term of a watch is
// not compared, because the member may lag.
func (s *Store) sameCluster(header *etcdserverpb.ResponseHeader) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.history.cluster == header.ClusterId
}

// object returns the object of a key; false if it is not one of a resource.
func (s *Store) object(kv *mvccpb.KeyValue) (source.Object, bool) {
	key := s.name(kv)
	if isOwn(key) {
		return source.Object{}, false
	}
	o := source.Object{Key: key, At: s.position(key, kv.ModRevision), Data: kv.Value}
	if o.Data == nil {
		o.Data = []byte{}
	}
	o.ID, o.Flaw = parseKey(key)
	return o, true
}

// name returns the key without the prefix.
func (s *Store) name(kv *mvccpb.KeyValue) string {
	return strings.TrimPrefix(string(kv.Key), s.key(""))
}

// setBack returns an error for a revision that is older than a known one.
func setBack(revision int64, known source.Revision) error {
	return fmt.Errorf("%w: it is at revision %d, and was at %d before", source.ErrSetBack, revision, known)
}
