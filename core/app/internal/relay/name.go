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

// A nameKey identifies a resource name that is requested by locator. Clients of another type, or
// with other capabilities, are given other resources (SPEC 18.4).
type nameKey struct {
	t      wire.Type
	name   string
	client capability.Client
}

// A name is the subscriptions and the variants of a resource name. It is guarded by Relay.mu.
//
// Its subscriptions are sent in batches. Until the upstream has responded to a batch, further
// parameters wait in the queue. Then those that the new variants cover are dropped, and the next
// batch is sent. It is twice as large if each subscription of the last batch had a variant of its
// own, and else half as large. With v variants and any number of clients, few more than v
// subscriptions are sent, in about log v batches.
type name struct {
	relay          *Relay
	locators       *locators
	key            nameKey
	view           *view // published
	subscriptions  map[string]*subscription
	queue          []*subscription
	batch          int   // size of the next batch
	pending        int   // subscriptions without a response
	lastSubscribed int64 // when a subscription was last sent, as Relay.clock
	rejected       rejectedState
	// resubscribed is set after all subscriptions were sent again because a response may have been
	// about any of them.
	resubscribed bool
}

// A subscription is a locator: a name with parameters. It waits in the queue until it is
// requested upstream.
type subscription struct {
	name       *name
	parameters server.Parameters
	requested  bool // it is no longer in the queue
	verdict    server.Verdict
	used       int64 // as held.used
	// current is set once the verdict is of the present session.
	current bool
}

// subscribe returns what is known of parameters, and subscribes to them if nothing is. It is
// called with r.mu, after the published view was tried.
func (r *Relay) subscribe(key nameKey, by program, p server.Parameters) (wire.Variant, server.Verdict) {
	n := r.names[key]
	if n == nil {
		n = &name{relay: r, locators: r.locatorsFor(by), key: key, subscriptions: map[string]*subscription{}, batch: 1}
		r.names[key] = n
	}
	if n.view.choose(p.Values) != nil {
		// A newer state than the one that was tried has it. A client whose locators were served
		// from both would get variants of two partitions in one response.
		return wire.Variant{}, server.Unknown
	}
	sub := n.subscriptions[p.Key]
	if sub == nil {
		sub = &subscription{name: n, parameters: p}
		n.subscriptions[p.Key] = sub
		n.queue = append(n.queue, sub)
		r.subscribeNext(n)
	}
	sub.used = r.clock.Load()
	if sub.verdict == server.Found { // its variant was removed; the response that replaces it has not arrived
		return wire.Variant{}, server.Unknown
	}
	return wire.Variant{}, sub.verdict
}

// subscribeNext sends the next batch of a name, unless a response to the previous one is missing.
func (r *Relay) subscribeNext(n *name) {
	if n.pending > 0 {
		return
	}
	n.queue = slices.DeleteFunc(n.queue, func(sub *subscription) bool {
		if n.view.choose(sub.parameters.Values) != nil {
			delete(n.subscriptions, sub.parameters.Key)
			return true
		}
		if n.pending == n.batch || r.subscribed >= r.maxSubscriptions {
			return false
		}
		n.pending++
		r.subscribed++
		sub.requested, n.lastSubscribed = true, r.clock.Load()
		n.locators.subscribe(sub)
		return true
	})
}

// A nameUpdate is what a response has about one name.
type nameUpdate struct {
	added   []received
	removed []string // constraints
	// none is set if a subscription has no variant, and code is why; 0 if that is not given.
	none bool
	code codes.Code
}

// byName returns the parts of a response by name.
func (v *verified) byName() map[string]*nameUpdate {
	updates := map[string]*nameUpdate{}
	of := func(name string) *nameUpdate {
		if updates[name] == nil {
			updates[name] = new(nameUpdate)
		}
		return updates[name]
	}
	for _, r := range v.resources {
		u := of(r.resource.Name)
		u.added = append(u.added, r)
	}
	for _, r := range v.removedVariants {
		u := of(r.name)
		u.removed = append(u.removed, r.constraints)
		u.none = u.none || r.constraints == ""
	}
	for name, code := range v.errors {
		u := of(name)
		u.none, u.code = true, code
	}
	return updates
}

// apply applies an update, and reports whether the published view changes. The error is what
// is wrong with it; then nothing has changed.
func (r *Relay) apply(n *name, u *nameUpdate) (changed bool, err error) {
	next, err := r.viewAfter(n, u)
	if err != nil {
		return false, err
	}
	changed = next != n.view
	n.view = next

	ambiguous := u.none && !n.resubscribed && n.hasOld()
	pruned := 0
	firsts := map[*held]*subscription{}
	for _, sub := range n.sortedSubscriptions() {
		if !sub.requested {
			continue
		}
		h := next.choose(sub.parameters.Values)
		switch {
		case h != nil:
			if firsts[h] != nil {
				pruned++
				r.subscribed--
				delete(n.subscriptions, sub.parameters.Key)
				n.locators.unsubscribe(sub)
				continue
			}
			firsts[h] = sub
			sub.verdict = server.Found
			sub.current = sub.current || slices.ContainsFunc(u.added, func(r received) bool { return r.constraints.text == h.variant.Constraints })
		case ambiguous:
			sub.verdict = server.Unknown
		case sub.verdict == server.Found && sub.current || u.none:
			sub.current = true
			if sub.verdict = server.Missing; u.code == codes.PermissionDenied {
				sub.verdict = server.Denied
			}
		case sub.verdict == server.Found: // its variant was replaced while there was no session
			sub.verdict = server.Unknown
		}
	}
	if ambiguous {
		// The response is about one of the subscriptions from before the stream began, or about
		// a new one.
		n.resubscribe()
	}
	if pruned > 0 {
		n.batch = max(1, n.batch/2)
	} else {
		n.batch = min(maxBatch, 2*n.batch)
	}
	n.countPending()
	r.subscribeNext(n)
	return changed, nil
}

const (
	// maxBatch limits the subscriptions of one batch.
	maxBatch = 1024
	// maxSubscriptions limits all subscriptions. Clients with ever new parameters cannot bring the
	// relay over the limit of its upstream: package server allows a client 100,000. Further
	// subscriptions wait. From half of it on, unused subscriptions are evicted soon.
	maxSubscriptions = 80_000
	// crowdedIdle is then used instead of Options.Idle, and crowdedSweep is how often.
	crowdedIdle, crowdedSweep = 10, 5 // seconds
)

// viewAfter returns the view after an update: the same one if nothing changes.
func (r *Relay) viewAfter(n *name, u *nameUpdate) (*view, error) {
	var before []*held
	if n.view != nil {
		before = n.view.variants
	}
	next := make([]*held, 0, len(before)+len(u.added))
	changed := false
	for _, h := range before {
		gone := slices.Contains(u.removed, h.variant.Constraints)
		if u.none && n.resubscribed && !gone {
			gone = n.isOld(h) // all subscriptions were sent again, and no response has it
		}
		gone = gone || slices.ContainsFunc(u.added, func(x received) bool {
			return x.constraints.text == h.variant.Constraints || n.isOld(h) && checkDisjoint(x.constraints.predicate, h.predicate) != nil
		})
		if gone {
			changed = true
		} else {
			next = append(next, h)
		}
	}
	for _, x := range u.added {
		if !n.isSubscribed(x) {
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

// isSubscribed reports whether a variant covers a subscription that was requested.
func (n *name) isSubscribed(x received) bool {
	for _, sub := range n.subscriptions {
		if sub.requested && x.constraints.predicate.Accepts(sub.parameters.Values) {
			return true
		}
	}
	return false
}

// isOld reports whether no response of the present session has a variant: the upstream may have
// removed it in the meantime.
func (n *name) isOld(h *held) bool {
	for _, sub := range n.subscriptions {
		if sub.current && h.predicate.Accepts(sub.parameters.Values) {
			return false
		}
	}
	return true
}

func (n *name) hasOld() bool { return n.view != nil && slices.ContainsFunc(n.view.variants, n.isOld) }

// sortedSubscriptions returns the subscriptions, those with a variant first: they are kept if
// others turn out to have the same one.
func (n *name) sortedSubscriptions() []*subscription {
	list := slices.SortedFunc(maps.Values(n.subscriptions), func(a, b *subscription) int {
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

// markOld is called before all subscriptions are sent again: no verdict of a subscription is of
// the present session.
func (n *name) markOld() {
	n.resubscribed, n.lastSubscribed = false, n.relay.clock.Load()
	for _, sub := range n.subscriptions {
		sub.current = false
	}
}

// evict drops the subscriptions that no client has used since a time, with their variants. It
// reports whether the published view changes.
func (r *Relay) evict(n *name, since int64) (changed bool) {
	for key, sub := range n.subscriptions {
		used := sub.used
		if h := n.view.choose(sub.parameters.Values); h != nil {
			used = max(used, h.used.Load())
		}
		if used >= since {
			continue
		}
		delete(n.subscriptions, key)
		if sub.requested {
			r.subscribed--
			n.locators.unsubscribe(sub)
		} else {
			n.queue = slices.DeleteFunc(n.queue, func(o *subscription) bool { return o == sub })
		}
	}
	if n.view != nil {
		kept := slices.DeleteFunc(slices.Clone(n.view.variants), func(h *held) bool {
			for _, sub := range n.subscriptions {
				if sub.requested && h.predicate.Accepts(sub.parameters.Values) {
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
	r.subscribeNext(n)
	return changed
}

// resubscribe sends all subscriptions again.
func (n *name) resubscribe() {
	n.resubscribed = true
	for _, sub := range n.subscriptions {
		if sub.requested {
			n.locators.subscribe(sub)
		}
	}
}

func (n *name) countPending() {
	n.pending = 0
	for _, sub := range n.subscriptions {
		if sub.requested && sub.verdict == server.Unknown {
			n.pending++
		}
	}
}
