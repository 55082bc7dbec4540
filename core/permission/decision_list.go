package permission

import (
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/strict"
)

// DecisionList is the rules of an inbound, filed for lookup.
//
// Entries are in the order in which they decide, so of all entries of a list
// that match, the one with the lowest number counts. Each entry stands in one
// chain, by the list it is of and the SPIFFE ID it asks for: exactly an ID, an
// ID or what lies below it, or none. A request can be matched by the chains of
// its ID, of its ID's leading segments and of no ID, and of each chain only the
// first entry that holds is of interest. A chain ends at its first entry that
// asks for nothing else, as none behind it can be the first.
type DecisionList struct {
	entries []Entry
	links   []link // parallel to entries
	// exact and below are by SPIFFE ID; below's without a last slash.
	exact, below map[string]heads
	anyID        heads
	longest      int  // length of the longest key of below
	shadow       bool // some rule has an allowWithShadowDeny
}

// heads is the first entry of each list's chain, or end.
type heads [len(ruleLists)]int32

const end = -1

var noHeads = heads{end, end, end}

type link struct {
	next      int32 // entry of the same chain, or end
	condition *condition
}

// NewDecisionList compiles rules, which are in order. The warnings are of
// entries that an inbound of that protocol can not see in full, in order.
func NewDecisionList(protocol Protocol, rules []Rule) (*DecisionList, []strict.Diagnostic) {
	entries, warnings := visible(protocol, rules)
	l := &DecisionList{entries: entries, links: make([]link, len(entries)), anyID: noHeads}
	exact, below := 0, 0
	for i := range entries {
		if id := entries[i].Match.SpiffeID; id != nil && id.Type == conf.SpiffeIDPrefix {
			below++
		} else if id != nil {
			exact++
		}
	}
	l.exact, l.below = make(map[string]heads, exact), make(map[string]heads, below)
	known := expressions{}
	for i := len(entries) - 1; i >= 0; i-- { // each entry before those of its chain behind it
		l.links[i].condition = newCondition(entries[i].Match, known)
		l.file(int32(i))
	}
	for i := range rules {
		l.shadow = l.shadow || len(rules[i].Conf.AllowWithShadowDeny) > 0
	}
	return l, warnings
}

// file puts an entry at the head of its chain.
func (l *DecisionList) file(i int32) {
	id := l.entries[i].Match.SpiffeID
	switch {
	case id == nil:
		l.anyID = l.prepend(l.anyID, i)
	case id.Type == conf.SpiffeIDPrefix:
		prefix := Segments(id.Value)
		l.longest = max(l.longest, len(prefix))
		l.prependTo(l.below, prefix, i)
	default:
		l.prependTo(l.exact, id.Value, i)
	}
}

func (l *DecisionList) prependTo(chains map[string]heads, id string, i int32) {
	h, ok := chains[id]
	if !ok {
		h = noHeads
	}
	chains[id] = l.prepend(h, i)
}

func (l *DecisionList) prepend(h heads, i int32) heads {
	list := l.entries[i].List
	l.links[i].next = h[list]
	if l.links[i].condition == nil {
		l.links[i].next = end
	}
	h[list] = i
	return h
}

// Entries returns the entries in the order in which they decide, without those
// that never match on this inbound. The slice must not be changed.
func (l *DecisionList) Entries() []Entry { return l.entries }

// HasShadow reports whether there is a shadow decision: some rule has a
// non-empty allowWithShadowDeny (SPEC 7.4).
func (l *DecisionList) HasShadow() bool { return l.shadow }

// Decide answers a request.
func (l *DecisionList) Decide(r *Request) Answer {
	first := noHeads
	l.improve(&first, l.anyID, r)
	if r.SpiffeID != "" {
		if h, ok := l.exact[r.SpiffeID]; ok {
			l.improve(&first, h, r)
		}
		for prefix := range Prefixes(r.SpiffeID, l.longest) {
			if h, ok := l.below[prefix]; ok {
				l.improve(&first, h, r)
			}
		}
	}
	deny, allow, shadowDeny := first[Deny], first[Allow], first[AllowWithShadowDeny]
	a := Answer{Decision: l.decision(deny, earlier(allow, shadowDeny)), HasShadow: l.shadow}
	if l.shadow {
		a.Shadow = l.decision(earlier(deny, shadowDeny), allow)
	}
	return a
}

// improve replaces the first matching entry of each list where a chain has an
// earlier one.
func (l *DecisionList) improve(first *heads, chains heads, r *Request) {
	for list, i := range chains {
		for i != end && (first[list] == end || i < first[list]) {
			if l.links[i].condition.holds(r) {
				first[list] = i
				break
			}
			i = l.links[i].next
		}
	}
}

func (l *DecisionList) decision(deny, allow int32) Decision {
	switch {
	case deny != end:
		return Decision{By: &l.entries[deny].Place}
	case allow != end:
		return Decision{Allow: true, By: &l.entries[allow].Place}
	}
	return Decision{}
}

func earlier(a, b int32) int32 {
	if a == end || b != end && b < a {
		return b
	}
	return a
}
