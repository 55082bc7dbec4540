package server

import (
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// A PartialState is a state that does not contain everything yet, such as the cache of a
// relay (SPEC 16). It learns what the server asks for. A question that it cannot answer yet
// is left open: the client keeps what it holds, and gets an answer from a later state.
//
// A PartialState decides itself what a client may have; Options.Access is not used. Its
// methods are called with the lock of a stream, and must not wait.
type PartialState interface {
	State
	// Answer is Locate for a client.
	Answer(client *Client, node *Node, t wire.Type, name string, p Parameters) (wire.Variant, Verdict)
	// AnswerNode is Node for a client. It is called for streams by locator too, so it asks
	// for nothing. If nothing is known of the node, AnswerName is called next for what the
	// stream subscribes to by name.
	AnswerNode(client *Client, node *Node) (*wire.Snapshot, Verdict)
	// AnswerName returns a resource of a name that the snapshot of the node lacks. P are the
	// parameters of the node. For the name "*", only the verdict matters: whether the snapshot
	// has all resources of the type that a wildcard selects.
	AnswerName(client *Client, node *Node, t wire.Type, name string, p Parameters) (*wire.Resource, Verdict)
}

// Parameters are dynamic parameters. The map is not changed, and may be kept.
type Parameters struct {
	Values map[string]string
	Key    string // equal for equal parameters only
}

// ParametersOf returns the parameters with their key.
func ParametersOf(values map[string]string) Parameters {
	return Parameters{values, parametersKey(values)}
}

// A Verdict is the answer of a PartialState to a question.
type Verdict uint8

const (
	Unknown Verdict = iota // until a later state
	Found
	Missing // it does not exist
	Denied  // the client may not have it
)

// resolvePartly is resolve for a partial state.
func (s *stream) resolvePartly(state PartialState) {
	snapshot, verdict := state.AnswerNode(&s.client, &s.node)
	s.snapshot, s.denied, s.unresolved = nil, verdict == Denied, verdict == Unknown
	if verdict == Found {
		s.snapshot, s.known = snapshot, true
	}
}

// unknown is the part of what a watch asks for that a partial state cannot answer yet.
type unknown struct {
	all      bool     // what the wildcard selects
	names    []string // subscribed names, sorted
	locators int      // the number of locators
	// resumed has by name what the client resumed with for such locators.
	resumed map[string]resumption
}

// A resumption is the version that a client resumed with for a name, or a list of them (see
// isList). It also has the number of locators of the name that are still unknown.
type resumption struct {
	versions string
	locators int
}

// resume keeps what a client resumed with for a locator.
func (u *unknown) resume(name, versions string) {
	if u.resumed == nil {
		u.resumed = map[string]resumption{}
	}
	u.resumed[name] = resumption{versions, u.resumed[name].locators + 1}
}

// forget is called after locators were unsubscribed: the client no longer holds what it resumed
// with for their names. U may be nil.
func (u *unknown) forget(gone []locator) {
	if u == nil {
		return
	}
	for _, l := range gone {
		delete(u.resumed, l.name)
	}
}

// setUnknownLocators sets the number of locators without an answer.
func (w *watch) setUnknownLocators(n int) {
	if w.unknown != nil {
		w.unknown.locators = n
	} else if n > 0 {
		w.unknown = &unknown{locators: n}
	}
}

// wantPartly computes what a watch wants by name. If the answer is unknown, the watch
// keeps what the client holds or is being sent.
func (s *stream) wantPartly(state PartialState, w *watch) []*wire.Resource {
	var want []*wire.Resource
	if s.snapshot != nil {
		want = selectFor(&s.snapshot[w.t], &w.sub, w.want)
	}
	if w.unknown != nil {
		w.unknown.names, w.unknown.all = nil, false
	}
	if s.node.ID == "" && len(s.node.Parameters) == 0 || !w.sub.all && len(want) == len(w.sub.names) {
		return want
	}
	var p Parameters
	if len(s.node.Parameters) > 0 {
		p = ParametersOf(s.node.Parameters)
	}
	var more []*wire.Resource
	var unknown unknown
	for _, name := range w.sub.names {
		if find(want, name) != nil {
			continue
		}
		switch r, verdict := state.AnswerName(&s.client, &s.node, w.t, name, p); verdict {
		case Found:
			more = append(more, r)
			s.known = true
		case Unknown:
			unknown.names = append(unknown.names, name)
		}
	}
	if w.sub.all {
		_, verdict := state.AnswerName(&s.client, &s.node, w.t, wildcard, p)
		unknown.all = verdict == Unknown
	}
	if unknown.all || len(unknown.names) > 0 {
		if w.unknown == nil {
			w.unknown = &unknown
		} else {
			w.unknown.all, w.unknown.names = unknown.all, unknown.names
		}
		located := more
		held := w.held
		if w.flight.message != nil {
			held = w.flight.next
		}
		for _, r := range held {
			if (unknown.all || w.isUnknown(r.Name)) && find(want, r.Name) == nil && find(located, r.Name) == nil {
				more = append(more, r)
			}
		}
	}
	if len(more) > 0 {
		want = append(slices.Clone(want), more...)
		sortResources(want)
		if slices.Equal(want, w.want) {
			want = w.want
		}
	}
	return want
}

// cutLocators returns the first locators of a sorted slice that have one name.
func cutLocators(in []locator) []locator {
	n := 1
	for n < len(in) && in[n].name == in[0].name {
		n++
	}
	return in[:n]
}

// isSwitching reports whether the variants of a name change and not all of the new ones are
// known: a locator of the name holds a variant that the state no longer has, and what replaces
// it is to come. The locators are all of the name.
func (w *watch) isSwitching(of []locator) bool {
	if w.unknown == nil {
		return false
	}
	return slices.ContainsFunc(of, func(l locator) bool {
		if !l.unknown {
			return false
		}
		_, resumed := w.unknown.resumed[l.name]
		return resumed || l.chosen.Resource != nil
	})
}

// chooseOf appends the variants that the locators of one name choose. While the name is
// switching, it keeps the variants that the client has, and only their contents change: a
// variant that is new may accept a locator whose previous variant is kept, and a switch is
// one response (SPEC 9.5).
func (w *watch) chooseOf(of []locator, to []wire.Variant) []wire.Variant {
	switching := w.isSwitching(of)
	for i := range of {
		of[i].kept = switching && !of[i].unknown
	}
	if !switching {
		for i := range of {
			if v := of[i].chosen; v.Resource != nil {
				to = append(to, v)
			}
		}
		return to
	}
	for _, v := range variantsOf(w.wantVariants, of[0].name) {
		for i := range of {
			if c := of[i].chosen; of[i].kept && c.Resource != nil && c.Constraints == v.Constraints {
				v = c
			}
		}
		to = append(to, v)
	}
	return to
}

// learnMore is called after advance for a watch that had unknown names or locators.
func (s *stream) learnMore(w *watch) {
	w.touch()
	if !w.isPartial() {
		w.unknown = nil
	}
}

// isUnknown reports whether nothing is known of a subscribed name.
func (w *watch) isUnknown(name string) bool {
	if w.unknown == nil {
		return false
	}
	_, found := slices.BinarySearch(w.unknown.names, name)
	return found
}

// isPartial reports whether something that the watch asks for is not known.
func (w *watch) isPartial() bool {
	u := w.unknown
	return u != nil && (u.all || len(u.names) > 0 || u.locators > 0)
}

// owesKnown reports whether something that the client asked for, and is not answered yet,
// can be answered. It is called for a partial watch.
func (w *watch) owesKnown() bool {
	return w.sub.all && !w.unknown.all && !w.answered ||
		slices.ContainsFunc(w.owed.names, func(name string) bool { return !w.isUnknown(name) }) ||
		slices.ContainsFunc(w.sub.locators, func(l locator) bool { return l.owed && !l.unknown && !l.kept })
}

// owesUnknown reports whether something that the client asked for is answered later.
func (w *watch) owesUnknown() bool {
	return w.isPartial() && (w.unknown.all || slices.ContainsFunc(w.owed.names, w.isUnknown) ||
		slices.ContainsFunc(w.sub.locators, func(l locator) bool { return l.owed && (l.unknown || l.kept) }))
}

// isBlocked reports whether nothing can be sent until more is known: in a full state,
// absence would delete what is not known.
func (w *watch) isBlocked(p protocol) bool {
	return p == stateOfTheWorld && full(w.t) && w.isPartial()
}

// learn is called when it is known what a locator chooses. If the client resumed with
// that, it is not sent.
func (w *watch) learn(l *locator) {
	if w.unknown == nil {
		return
	}
	resumed, ok := w.unknown.resumed[l.name]
	if !ok {
		return
	}
	if resumed.locators--; resumed.locators == 0 {
		delete(w.unknown.resumed, l.name)
	} else {
		w.unknown.resumed[l.name] = resumed
	}
	if v := l.chosen; v.Resource != nil && hasVersion(resumed.versions, v) {
		l.owed = false
		hold := func(held []wire.Variant) []wire.Variant {
			if _, found := findVariant(held, v); found {
				return held
			}
			held = append(slices.Clone(held), v)
			sortVariants(held)
			return held
		}
		w.heldVariants = hold(w.heldVariants)
		if w.flight.message != nil {
			w.flight.nextVariants = hold(w.flight.nextVariants)
		}
	}
}

// isList reports whether a client gave the versions of all variants that it holds of a name,
// each followed by a comma, as a relay does. Versions have no comma.
func isList(versions string) bool { return strings.HasSuffix(versions, ",") }

// hasVersion reports whether the versions that a client resumed with for a name, one or a
// list, include the version of a variant.
func hasVersion(versions string, v wire.Variant) bool {
	version := variantVersion(v)
	for one := range strings.SplitSeq(versions, ",") {
		if one == version {
			return true
		}
	}
	return false
}

// Subscriptions calls visit for each locator of each stream, and for each name that a node
// with parameters subscribes to. It waits for streams that are at work, so the caller must
// not hold a lock that a State needs.
func (s *Server) Subscriptions(visit func(client *Client, node *Node, t wire.Type, name string, p Parameters)) {
	for _, c := range s.streams.cursors() {
		for st := c.next(); st != nil; st = c.next() {
			st.visitSubscriptions(visit)
		}
	}
}

func (s *stream) visitSubscriptions(visit func(*Client, *Node, wire.Type, string, Parameters)) {
	s.mu.Lock()
	defer s.unlock()
	for _, w := range s.watches {
		if w == nil {
			continue
		}
		for i := range w.sub.locators {
			l := &w.sub.locators[i]
			visit(&s.client, &s.node, w.t, l.name, Parameters{l.parameters.values, l.parameters.key})
		}
		if len(s.node.Parameters) > 0 && len(w.sub.names) > 0 {
			p := ParametersOf(s.node.Parameters)
			for _, name := range w.sub.names {
				visit(&s.client, &s.node, w.t, name, p)
			}
		}
	}
}

// NodeSubscriptions calls visit for each name of each stream of a node, "*" for the
// wildcard, and reports whether there is a stream. It waits as Subscriptions does.
func (s *Server) NodeSubscriptions(id string, visit func(client *Client, node *Node, t wire.Type, name string)) bool {
	streams := s.nodes.streamsOf(id)
	for _, st := range streams {
		st.mu.Lock()
		for _, w := range st.watches {
			if w == nil {
				continue
			}
			if w.sub.all {
				visit(&st.client, &st.node, w.t, wildcard)
			}
			for _, name := range w.sub.names {
				visit(&st.client, &st.node, w.t, name)
			}
		}
		st.unlock()
	}
	return len(streams) > 0
}
