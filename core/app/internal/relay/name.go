package relay

import (
	"fmt"
	"maps"
	"slices"

	"google.golang.org/grpc/codes"

	"github.com/meshmatch/meshmatch/core/internal/xds/capability"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// A nameKey identifies a resource name that is asked by locator. Clients of another type, or
// with other capabilities, are given other resources (SPEC 18.4).
type nameKey struct {
	t      wire.Type
	name   string
	client capability.Client
}

// A name is what is asked and known of a resource name. It is guarded by Relay.mu.
//
// Its questions are asked in rounds. While a round is not answered, further parameters wait
// in the queue. Then those that the answers cover are dropped, and the next ones are asked:
// twice as many as before if each question of the round had an answer of its own, else half
// as many. With v variants and any number of clients, few more than v questions are asked,
// in about log v rounds.
type name struct {
	relay     *Relay
	locators  *locators
	key       nameKey
	view      *view // published
	questions map[string]*question
	queue     []*question
	batch     int   // of the next round
	pending   int   // questions that are asked and not answered
	asked     int64 // when a question was last asked, as Relay.clock
	wrong     wrongness
	// repeated is set after all questions were asked again because an answer may have been
	// about any of them.
	repeated bool
}

// A question is a name with parameters that the upstream is asked.
type question struct {
	name       *name
	parameters server.Parameters
	asked      bool // it is not in the queue
	verdict    server.Verdict
	used       int64 // as held.used
	// current is set once the answer is of the session that lives.
	current bool
}

// ask returns what is known of parameters, and asks for them if nothing is. It is called
// with r.mu, after the published view was tried.
func (r *Relay) ask(key nameKey, by program, p server.Parameters) (wire.Variant, server.Verdict) {
	n := r.names[key]
	if n == nil {
		n = &name{relay: r, locators: r.locatorsFor(by), key: key, questions: map[string]*question{}, batch: 1}
		r.names[key] = n
	}
	if n.view.choose(p.Values) != nil {
		// A newer state than the one that was tried has it. A client whose locators were answered
		// from both would get variants of two partitions in one response.
		return wire.Variant{}, server.Unknown
	}
	q := n.questions[p.Key]
	if q == nil {
		q = &question{name: n, parameters: p}
		n.questions[p.Key] = q
		n.queue = append(n.queue, q)
		r.askNext(n)
	}
	q.used = r.clock.Load()
	if q.verdict == server.Found { // its variant was removed; the response that replaces it has not arrived
		return wire.Variant{}, server.Unknown
	}
	return wire.Variant{}, q.verdict
}

// askNext begins the next round of a name, if the previous one is answered.
func (r *Relay) askNext(n *name) {
	if n.pending > 0 {
		return
	}
	n.queue = slices.DeleteFunc(n.queue, func(q *question) bool {
		if n.view.choose(q.parameters.Values) != nil {
			delete(n.questions, q.parameters.Key)
			return true
		}
		if n.pending == n.batch || r.asked >= r.maxQuestions {
			return false
		}
		n.pending++
		r.asked++
		q.asked, n.asked = true, r.clock.Load()
		n.locators.subscribe(q)
		return true
	})
}

// An answer is what a response has about one name.
type answer struct {
	added   []received
	removed []string // constraints
	// none is set if a question has no variant, and code is why; 0 if that is not given.
	none bool
	code codes.Code
}

// byName returns the parts of a response by name.
func (v *verified) byName() map[string]*answer {
	answers := map[string]*answer{}
	of := func(name string) *answer {
		if answers[name] == nil {
			answers[name] = new(answer)
		}
		return answers[name]
	}
	for _, r := range v.resources {
		a := of(r.resource.Name)
		a.added = append(a.added, r)
	}
	for _, r := range v.removedVariants {
		a := of(r.name)
		a.removed = append(a.removed, r.constraints)
		a.none = a.none || r.constraints == ""
	}
	for name, code := range v.errors {
		a := of(name)
		a.none, a.code = true, code
	}
	return answers
}

// apply applies an answer, and reports whether the published view changes. The error is what
// is wrong with it; then nothing has changed.
func (r *Relay) apply(n *name, a *answer) (changed bool, err error) {
	next, err := r.viewAfter(n, a)
	if err != nil {
		return false, err
	}
	changed = next != n.view
	n.view = next

	ambiguous := a.none && !n.repeated && n.hasOld()
	pruned := 0
	firsts := map[*held]*question{}
	for _, q := range n.sortedQuestions() {
		if !q.asked {
			continue
		}
		h := next.choose(q.parameters.Values)
		switch {
		case h != nil:
			if firsts[h] != nil {
				pruned++
				r.asked--
				delete(n.questions, q.parameters.Key)
				n.locators.unsubscribe(q)
				continue
			}
			firsts[h] = q
			q.verdict = server.Found
			q.current = q.current || slices.ContainsFunc(a.added, func(r received) bool { return r.constraints.text == h.variant.Constraints })
		case ambiguous:
			q.verdict = server.Unknown
		case q.verdict == server.Found && q.current || a.none:
			q.current = true
			if q.verdict = server.Missing; a.code == codes.PermissionDenied {
				q.verdict = server.Denied
			}
		case q.verdict == server.Found: // its variant was replaced while there was no session
			q.verdict = server.Unknown
		}
	}
	if ambiguous {
		// The answer is about one of the questions that were asked before the stream began, or
		// about a new one.
		n.repeat()
	}
	if pruned > 0 {
		n.batch = max(1, n.batch/2)
	} else {
		n.batch = min(maxBatch, 2*n.batch)
	}
	n.countPending()
	r.askNext(n)
	return changed, nil
}

const (
	// maxBatch limits the questions of one round.
	maxBatch = 1024
	// maxQuestions limits all questions, so that clients with ever new parameters do not bring
	// the relay over the limit of its upstream, which is 100,000 for a client of package server.
	// Further questions wait. From half of it on, questions are given up soon.
	maxQuestions = 80_000
	// pressedIdle is then used instead of Options.Idle, and pressedSweep is how often.
	pressedIdle, pressedSweep = 10, 5 // seconds
)

// viewAfter returns the view after an answer: the same one if nothing changes.
func (r *Relay) viewAfter(n *name, a *answer) (*view, error) {
	var before []*held
	if n.view != nil {
		before = n.view.variants
	}
	next := make([]*held, 0, len(before)+len(a.added))
	changed := false
	for _, h := range before {
		gone := slices.Contains(a.removed, h.variant.Constraints)
		if a.none && n.repeated && !gone {
			gone = n.isOld(h) // all questions were asked again, and this is no answer
		}
		gone = gone || slices.ContainsFunc(a.added, func(x received) bool {
			return x.constraints.text == h.variant.Constraints || n.isOld(h) && checkDisjoint(x.constraints.predicate, h.predicate) != nil
		})
		if gone {
			changed = true
		} else {
			next = append(next, h)
		}
	}
	for _, x := range a.added {
		if !n.isAsked(x) {
			continue // unsubscribed meanwhile
		}
		h := &held{variant: wire.Variant{Resource: x.resource, Constraints: x.constraints.text}, predicate: x.constraints.predicate, version: x.version}
		h.used.Store(r.clock.Load())
		if same := n.view.find(x.constraints.text); same != nil && same.variant == h.variant && same.version == h.version {
			h = same
		}
		if slices.ContainsFunc(next, func(o *held) bool { return o.variant.Constraints == h.variant.Constraints }) {
			return nil, fmt.Errorf("a variant is twice in the response")
		}
		next, changed = append(next, h), true
	}
	if !changed {
		return n.view, nil
	}
	v, err := newView(next, n.view)
	if err != nil {
		return nil, err
	}
	if n.view != nil && slices.Equal(v.variants, n.view.variants) {
		return n.view, nil
	}
	return v, nil
}

// isAsked reports whether a variant covers a question.
func (n *name) isAsked(x received) bool {
	for _, q := range n.questions {
		if q.asked && x.constraints.predicate.Accepts(q.parameters.Values) {
			return true
		}
	}
	return false
}

// isOld reports whether no answer of the session that lives is a variant: the upstream may
// have removed it in the meantime.
func (n *name) isOld(h *held) bool {
	for _, q := range n.questions {
		if q.current && h.predicate.Accepts(q.parameters.Values) {
			return false
		}
	}
	return true
}

func (n *name) hasOld() bool { return n.view != nil && slices.ContainsFunc(n.view.variants, n.isOld) }

// sortedQuestions returns the questions, those with an answer first: they are kept if others
// turn out to have the same one.
func (n *name) sortedQuestions() []*question {
	list := slices.SortedFunc(maps.Values(n.questions), func(a, b *question) int {
		switch {
		case a.verdict == server.Found && b.verdict != server.Found:
			return -1
		case b.verdict == server.Found && a.verdict != server.Found:
			return 1
		case a.parameters.Key < b.parameters.Key:
			return -1
		}
		return 1
	})
	return list
}

// restart is called when a session begins: all questions are asked again, and the answers
// that are held were given before.
func (n *name) restart() {
	n.repeated, n.asked = false, n.relay.clock.Load()
	for _, q := range n.questions {
		q.current = false
	}
}

// evict drops the questions that no client has used since a time, with their variants. It
// reports whether the published view changes.
func (r *Relay) evict(n *name, since int64) (changed bool) {
	for key, q := range n.questions {
		used := q.used
		if h := n.view.choose(q.parameters.Values); h != nil {
			used = max(used, h.used.Load())
		}
		if used >= since {
			continue
		}
		delete(n.questions, key)
		if q.asked {
			r.asked--
			n.locators.unsubscribe(q)
		} else {
			n.queue = slices.DeleteFunc(n.queue, func(o *question) bool { return o == q })
		}
	}
	if n.view != nil {
		kept := slices.DeleteFunc(slices.Clone(n.view.variants), func(h *held) bool {
			for _, q := range n.questions {
				if q.asked && h.predicate.Accepts(q.parameters.Values) {
					return false
				}
			}
			return true
		})
		if len(kept) < len(n.view.variants) {
			n.view, _ = newView(kept, n.view) // a part of disjoint variants is disjoint
			changed = true
		}
	}
	n.countPending()
	r.askNext(n)
	return changed
}

// repeat asks all questions again.
func (n *name) repeat() {
	n.repeated = true
	for _, q := range n.questions {
		if q.asked {
			n.locators.subscribe(q)
		}
	}
}

func (n *name) countPending() {
	n.pending = 0
	for _, q := range n.questions {
		if q.asked && q.verdict == server.Unknown {
			n.pending++
		}
	}
}
