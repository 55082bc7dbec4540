package relay

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// A name is wrong while the relay does not have what the upstream last sent for it, because it
// has NACKed that: the upstream does not send it again by itself. A question is stuck if it has no
// answer. Both are asked again (SPEC 16).

const (
	// wrongEvery is how often wrong names are looked for, and askAgain after what time a name
	// is asked again: together they are at most 15 s.
	wrongEvery, askAgain = 5, 10 // seconds
	// wrongAfter is the time after which a wrong name is reported.
	wrongAfter = 15 * time.Second
	// maxWrong limits the wrong names of a status.
	maxWrong = 100
)

// A wrongness is since when a name is wrong, and when it was last asked for, as Relay.clock.
// The zero value is none.
type wrongness struct {
	since, asked int64
	why          string
}

// note records that what came for a name is wrong.
func (w *wrongness) note(now int64, why string) {
	if w.since == 0 {
		w.since, w.asked = now, now
	}
	w.why = why
}

// A WrongName is a name whose newest content the relay has NACKed.
type WrongName struct {
	Type  string    `json:"type"`
	Name  string    `json:"name"`
	Node  string    `json:"node,omitempty"` // if it belongs to a node
	Since time.Time `json:"since"`
	Why   string    `json:"why"`
}

// askWrongAgain asks again for wrong names and for questions without an answer. It is called
// with r.mu.
func (r *Relay) askWrongAgain(now int64) {
	for _, n := range r.names {
		if (n.wrong.since != 0 || n.pending > 0) && now-max(n.wrong.asked, n.asked) >= askAgain {
			n.askAgain(now)
		}
	}
	for _, n := range r.nodes {
		n.askWrongAgain(now)
	}
}

// askAgain asks all questions of a name again: an answer to one of them is about all of its
// variants.
func (n *name) askAgain(now int64) {
	n.wrong.asked, n.asked = now, now
	n.restart()
	n.repeat()
}

// askWrongAgain is askAgain for the names of a node. A name that only the wildcard selects is
// unsubscribed: a server answers that with what it has, because the wildcard still selects it.
func (n *node) askWrongAgain(now int64) {
	for t := range n.types {
		of := &n.types[t]
		for name, w := range of.wrong {
			if now-w.asked < askAgain {
				continue
			}
			w.asked = now
			of.wrong[name] = w
			if _, asked := slices.BinarySearchFunc(of.names, name, compareName); asked {
				of.fresh = append(of.fresh, name)
			} else {
				of.gone = append(of.gone, name)
			}
			n.session.wake()
		}
	}
}

// noteWrong records what is wrong of a response to a node.
func (t *nodeType) noteWrong(v *verified, now int64) {
	for name := range v.wrong {
		if t.wrong == nil {
			t.wrong = map[string]wrongness{}
		}
		w := t.wrong[name]
		w.note(now, v.why(name))
		t.wrong[name] = w
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

// Wrong returns the names that are wrong for longer than 15 s, at most 100 of them, and how many
// there are by type.
func (r *Relay) Wrong() (list []WrongName, count [wire.NumTypes]int) {
	now := r.clock.Load()
	r.mu.Lock()
	add := func(t wire.Type, name, node string, w wrongness) {
		if w.since == 0 || time.Duration(now-w.since)*time.Second < wrongAfter {
			return
		}
		count[t]++
		list = append(list, WrongName{t.String(), name, node, r.start.Add(time.Duration(w.since-1) * time.Second), w.why})
	}
	for key, n := range r.names {
		add(key.t, key.name, "", n.wrong)
	}
	for key, n := range r.nodes {
		for t := range n.types {
			for name, w := range n.types[t].wrong {
				add(wire.Type(t), name, key.id, w)
			}
		}
	}
	r.mu.Unlock()
	slices.SortFunc(list, func(a, b WrongName) int {
		return cmp.Or(a.Since.Compare(b.Since), strings.Compare(a.Type, b.Type), strings.Compare(a.Name, b.Name), strings.Compare(a.Node, b.Node))
	})
	return list[:min(len(list), maxWrong)], count
}
