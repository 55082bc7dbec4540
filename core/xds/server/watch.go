package server

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// A watch is one type of one stream. It is guarded by the lock of the stream.
//
// A stream has four or five of them, so the small fields are together to leave no gaps.
type watch struct {
	t wire.Type
	// implied is set in state of the world while the wildcard is implied by requests
	// without names.
	implied  bool
	answered bool // there was a response
	// waits is set in state of the world if the client has resumed while its node was not known.
	// Nothing is sent: any response would delete what the client has.
	waits bool
	// additions and removals report what is to be sent, if examined is set.
	examined, additions, removals bool
	nonce                         uint32 // of the last response
	// stubs is about the size in memory of what the client resumed with and the state does
	// not have. A request limits it.
	stubs int32

	// A new generation reads these of every stream, so they are adjacent in memory.
	kept    *kept       // nil: nothing drains
	unknown *unknown    // what a partial state cannot answer yet, or nil
	changed *generation // the first change that the client has not been sent

	sub subscription
	// want is what the client should hold by name, of the generation of the stream,
	// and held is what was sent last, ACKed or not. Both are sorted by name and never
	// changed: they may be slices of a snapshot.
	want, held []*wire.Resource
	// staging is nil unless endpoints have to wait for their clusters.
	staging *staging
	// wantVariants and heldVariants are the same by locator, sorted by name and
	// constraints, without duplicates.
	wantVariants, heldVariants []wire.Variant

	owed   owed
	flight flight
	// accepted is not nil from the end of a late flight until the next answer.
	accepted *acceptance
	silent   int64 // since when responses have no answer, see Server.now; 0 if they have
	// heard is when the client subscribed the type or, while it lacks a type, when it last
	// answered a response (see Server.now and expects).
	heard int64

	nack     *nack // the last one, nil after an ACK that leaves nothing rejected
	rejected []rejection

	removalsSince int64 // when removals was set first, 0 if it is not set
}

// owed is what the client asked for explicitly, and is sent even if it is held.
type owed struct {
	answer bool     // a response, even an empty one
	names  []string // sorted
}

// A flight is a response that was sent and not answered.
type flight struct {
	message      *message // nil if there is none; its bytes are not kept
	at           int64    // see Server.now
	late         bool     // the server no longer waits for the answer (see silence.go)
	before       *lateFlight
	next         []*wire.Resource
	nextVariants []wire.Variant
}

// full reports whether a response in state of the world has all resources of the
// type: one that is absent is deleted.
func full(t wire.Type) bool { return t == wire.ListenerType || t == wire.ClusterType }

// touch is called when want, held or owed have changed.
func (w *watch) touch() { w.examined = false }

// owe makes the server answer for names, which the function sorts.
func (w *watch) owe(names []string) {
	w.owed.answer = true
	w.owed.names = union(w.owed.names, names)
	w.touch()
}

// owedBytes returns what the owed names take in memory, about. Most of them are
// subscribed, and have their text there.
func (w *watch) owedBytes() int {
	n := 16 * len(w.owed.names)
	for _, name := range w.owed.names {
		if !w.sub.has(name) {
			n += nameBytes + len(name)
		}
	}
	return n
}

// examine computes what is to be sent. Without known, the node of the stream has
// never been a dataplane, and no name is removed: the client waits with what it has.
func (w *watch) examine(now int64, known bool, p protocol) {
	if w.examined {
		return
	}
	w.examined = true
	if w.waits || w.isBlocked(p) {
		w.additions, w.removals, w.removalsSince = false, false, 0
		return
	}
	want := w.wanted()
	w.additions, w.removals = compareResources(want, w.held)
	additions, removals := compareVariantSets(w.wantVariants, w.heldVariants)
	if !w.additions && !w.removals {
		w.held = want // the same content: share the slice
	}
	answer := w.owed.answer
	if answer && w.isPartial() {
		answer = w.owesKnown()
	}
	w.additions = w.additions || additions || answer
	w.removals = w.removals && known || removals
	switch {
	case !w.removals:
		w.removalsSince = 0
	case w.removalsSince == 0:
		w.removalsSince = now
	}
}

// forget is called after names were unsubscribed: the client drops them by itself.
func (w *watch) forget() {
	dropped := func(r *wire.Resource) bool { return !w.sub.all && !w.sub.has(r.Name) }
	w.held = without(w.held, dropped)
	w.flight.next = without(w.flight.next, dropped)
	w.owed.names = slices.DeleteFunc(w.owed.names, func(name string) bool { return !w.sub.all && !w.sub.has(name) })
	w.touch()
}

// without returns a slice without some resources. The argument is not changed.
func without(in []*wire.Resource, drop func(*wire.Resource) bool) []*wire.Resource {
	if !slices.ContainsFunc(in, drop) {
		return in
	}
	return slices.DeleteFunc(slices.Clone(in), drop)
}

// forgetLocators is called after locators were unsubscribed, with the others chosen
// again. A variant of theirs is dropped unless another locator has it. If the name was switching,
// another locator may have the previous variant: then it is removed explicitly.
func (w *watch) forgetLocators(gone []locator) {
	var variants []wire.Variant
	for _, l := range gone {
		if l.chosen.Resource == nil || l.unknown && w.sub.hasLocatorOf(l.name) {
			continue
		}
		if _, wanted := findVariant(w.wantVariants, l.chosen); !wanted {
			variants = append(variants, l.chosen)
		}
	}
	if len(variants) > 0 {
		sortVariants(variants)
		dropped := func(v wire.Variant) bool { _, found := findVariant(variants, v); return found }
		w.heldVariants = slices.DeleteFunc(slices.Clone(w.heldVariants), dropped)
		w.flight.nextVariants = slices.DeleteFunc(slices.Clone(w.flight.nextVariants), dropped)
	}
	w.touch()
}

// choose computes wantVariants from the choices of the locators.
func (w *watch) choose() {
	var buffer [4]wire.Variant
	chosen := buffer[:0]
	for rest := w.sub.locators; len(rest) > 0; {
		of := cutLocators(rest)
		rest = rest[len(of):]
		chosen = w.chooseOf(of, chosen)
	}
	sortVariants(chosen)
	chosen = slices.CompactFunc(chosen, func(a, b wire.Variant) bool { return compareVariants(a, b) == 0 })
	if !slices.Equal(chosen, w.wantVariants) {
		w.wantVariants = slices.Clone(chosen)
	}
	w.touch()
}

// finish ends the flight: the client has answered.
func (w *watch) finish() {
	w.held, w.heldVariants = w.flight.next, w.flight.nextVariants
	w.flight = flight{}
	w.accepted, w.silent = nil, 0
	w.touch()
}

// settled reports whether the client has accepted all that it should hold. A NACK no
// longer matters if the client should not hold what it rejected: it may have
// unsubscribed that.
func (w *watch) settled() bool {
	return w.examined && !w.isPartial() && !w.additions && !w.removals && !w.isStaged() && w.flight.message == nil && w.silent == 0 &&
		(w.nack == nil || len(w.nack.resources) > 0 && !slices.ContainsFunc(w.rejected, w.isWanted))
}
