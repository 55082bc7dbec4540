package relay

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// A name is rejected while the relay does not have what the upstream last sent for it, because it
// has NACKed that: the upstream does not send it again by itself. A subscription is stuck if it
// has no response. Both are sent again (SPEC 16).

const (
	// rejectedEvery is how often rejected names are looked for. resubscribeAfter is the time after
	// which a name is requested again. Together they are at most 15 s.
	rejectedEvery, resubscribeAfter = 5, 10 // seconds
	// reportAfter is the time after which a rejected name is reported.
	reportAfter = 15 * time.Second
	// maxRejectedNames limits the rejected names of a status.
	maxRejectedNames = 100
)

// A rejectedState is since when a name is rejected, and when it was last requested, as Relay.clock.
// The zero value is none.
type rejectedState struct {
	since, requested int64
	why              string
}

// note records that the content that came for a name is rejected.
func (w *rejectedState) note(now int64, why string) {
	if w.since == 0 {
		w.since, w.requested = now, now
	}
	w.why = why
}

// A RejectedName is a name whose newest content the relay has NACKed.
type RejectedName struct {
	Type  string    `json:"type"`
	Name  string    `json:"name"`
	Node  string    `json:"node,omitempty"` // if it belongs to a node
	Since time.Time `json:"since"`
	Why   string    `json:"why"`
}

// resubscribeRejected sends the subscriptions again of rejected names, and of names that lack a
// response. It is called with r.mu.
func (r *Relay) resubscribeRejected(now int64) {
	for _, n := range r.names {
		if (n.rejected.since != 0 || n.pending > 0) && now-max(n.rejected.requested, n.lastSubscribed) >= resubscribeAfter {
			// As if a session began: a response to one subscription of a name is about all of its variants.
			n.rejected.requested, n.lastSubscribed = now, now
			n.markOld()
			n.resubscribe()
		}
	}
	for _, n := range r.nodes {
		n.resubscribeRejected(now)
	}
}

// resubscribeRejected subscribes again to the rejected names of a node. A name that only the
// wildcard selects is unsubscribed: a server responds to that with what it has, because the
// wildcard still selects it.
func (n *node) resubscribeRejected(now int64) {
	for t := range n.types {
		of := &n.types[t]
		for name, w := range of.rejected {
			if now-w.requested < resubscribeAfter {
				continue
			}
			w.requested = now
			of.rejected[name] = w
			if _, subscribed := slices.BinarySearchFunc(of.names, name, compareName); subscribed {
				of.fresh = append(of.fresh, name)
			} else {
				of.gone = append(of.gone, name)
			}
			n.session.wake()
		}
	}
}

// noteRejected records the rejected names of a response to a node.
func (t *nodeType) noteRejected(v *verified, now int64) {
	for name := range v.rejected {
		if t.rejected == nil {
			t.rejected = map[string]rejectedState{}
		}
		w := t.rejected[name]
		w.note(now, v.why(name))
		t.rejected[name] = w
	}
}

// why returns the first problem of a name.
func (v *verified) why(name string) string {
	for _, p := range v.problems {
		if why, found := strings.CutPrefix(p, name+": "); found {
			return why
		}
	}
	return "the response has something wrong of this name"
}

// RejectedNames returns the names that are rejected for longer than 15 s, at most 100 of them, and
// how many there are by type.
func (r *Relay) RejectedNames() (list []RejectedName, count [wire.NumTypes]int) {
	now := r.clock.Load()
	r.mu.Lock()
	add := func(t wire.Type, name, node string, w rejectedState) {
		if w.since == 0 || time.Duration(now-w.since)*time.Second < reportAfter {
			return
		}
		count[t]++
		list = append(list, RejectedName{t.String(), name, node, r.start.Add(time.Duration(w.since-1) * time.Second), w.why})
	}
	for key, n := range r.names {
		add(key.t, key.name, "", n.rejected)
	}
	for key, n := range r.nodes {
		for t := range n.types {
			for name, w := range n.types[t].rejected {
				add(wire.Type(t), name, key.id, w)
			}
		}
	}
	r.mu.Unlock()
	slices.SortFunc(list, func(a, b RejectedName) int {
		return cmp.Or(a.Since.Compare(b.Since), strings.Compare(a.Type, b.Type), strings.Compare(a.Name, b.Name), strings.Compare(a.Node, b.Node))
	})
	return list[:min(len(list), maxRejectedNames)], count
}
