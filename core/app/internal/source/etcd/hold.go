package etcd

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// hold is the state of a write in several transactions, as a follower sees it. Until it is
// complete, nothing is applied (SPEC 14.2).
type hold struct {
	lease       int64 // of the key -/apply; 0: it does not exist
	began       time.Time
	interrupted string // why what is stored is not complete; empty: it is, or may soon be
}

// last is the content of the key -/last.
type last struct {
	Time      time.Time `json:"time"`
	Resources int       `json:"resources"` // to write and to delete
	Complete  bool      `json:"complete"`
}

// patience is how long a write may be in progress until it is reported.
const patience = 5 * time.Second

// isHeld reports whether the state is not complete.
func (h *hold) isHeld() bool { return h.lease != 0 || h.interrupted != "" }

// reason returns why the state is not complete; empty: no reason to report.
func (h *hold) reason(now time.Time) string {
	switch {
	case h.interrupted != "":
		return h.interrupted
	case h.lease != 0 && now.Sub(h.began) > patience:
		return "an apply is in progress for " + now.Sub(h.began).Round(time.Second).String()
	}
	return ""
}

// put handles that one of the keys was written.
func (h *hold) put(name string, kv *mvccpb.KeyValue, now time.Time) {
	switch name {
	case applyKey:
		// An apply writes the key with a lease. One without would never end: a client that
		// may write one key would stop all followers.
		if kv.Lease != 0 {
			*h = hold{lease: kv.Lease, began: now}
		}
	case lastKey:
		var l last
		if json.Unmarshal(kv.Value, &l) != nil {
			return
		}
		if l.Complete {
			*h = hold{}
		} else if h.lease == 0 {
			h.interrupted = fmt.Sprintf("an apply of %d resources, begun at %s, was interrupted; run it again", l.Resources, l.Time.UTC().Format(time.RFC3339))
		}
	}
}

// removed handles that the key -/apply was deleted, and last was not written at the same time. A
// lease that has ended shows that the writer did not delete it.
func (s *Store) removed(ctx context.Context, h *hold) error {
	lease := h.lease
	if lease == 0 {
		return nil
	}
	client, err := s.connection()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	left, err := client.TimeToLive(ctx, clientv3.LeaseID(lease))
	if err != nil {
		return s.readable(err)
	}
	if left.TTL <= 0 {
		*h = hold{interrupted: "the lease of an apply has ended before it was complete; run it again"}
		return nil
	}
	*h = hold{}
	return nil
}
