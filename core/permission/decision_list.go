package permission

import (
	"slices"
	"sync"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/request"
)

// DecisionList contains the rules of an inbound for lookup by a client's SPIFFE
// ID and by the path of a request.
//
// Entries are in the order in which they decide: among the matching entries of a list,
// the first one decides. Each entry is in one chain. The list, the SPIFFE ID condition
// (an ID, a prefix, or none) and the path condition (a path, a prefix, or other)
// determine the chain. The entries of a chain are in order. Few chains can match a
// request: the chains of its exact ID, of the prefixes of its ID (by segment or of
// text), and without an ID. Of each these are the chains of its path, of the path's
// prefixes, and the rest. Only the first matching entry of a chain matters.
type DecisionList struct {
	entries     []Entry
	shadow      bool // some rule has an allowWithShadowDeny
	asksForPath bool
	chains      func() *lookup // made for the first request; filters do not need them
}

// heads contains the first entry of each list's chain, or end.
type heads [len(ruleLists)]int32

const end = -1

var noHeads = heads{end, end, end}

type link struct {
	next      int32 // the next entry of the same chain, or end
	condition *request.Condition
}

// NewDecisionList compiles rules, which must be in order. Its warnings are in
// order: entries that an inbound of the protocol cannot see in full, and entries
// that any client can evade by its headers.
func NewDecisionList(protocol request.Protocol, rules []Rule) (*DecisionList, []diag.Diagnostic) {
	entries, warnings := visible(protocol, rules)
	shadow := slices.ContainsFunc(rules, func(r Rule) bool { return len(r.Conf.AllowWithShadowDeny) > 0 })
	return newDecisionList(entries, shadow), warnings
}

func newDecisionList(entries []Entry, shadow bool) *DecisionList {
	return &DecisionList{
		entries:     entries,
		shadow:      shadow,
		asksForPath: slices.ContainsFunc(entries, func(e Entry) bool { return e.Match.Path != nil }),
		chains:      sync.OnceValue(func() *lookup { return newLookup(entries) }),
	}
}

// lookup contains the chains of the entries.
type lookup struct {
	links []link            // parallel to entries
	exact map[string]chains // by SPIFFE ID
	below request.ByPrefix[chains]
	anyID chains
}

// chains are the chains of the entries with one SPIFFE ID condition.
type chains struct {
	anyPath heads // also those of regular expressions
	*paths        // nil if no entry has a path
}

type paths struct {
	exact map[string]heads // by path
	below request.ByPrefix[heads]
}

var noChains = chains{anyPath: noHeads}

func newLookup(entries []Entry) *lookup {
	l := &lookup{links: make([]link, len(entries)), anyID: noChains}
	exact := 0
	for i := range entries {
		if id := entries[i].Match.SpiffeID; id != nil && !id.Type.IsPrefix() {
			exact++
		}
	}
	l.exact = make(map[string]chains, exact)
	known := request.Expressions{}
	for i := len(entries) - 1; i >= 0; i-- { // an entry precedes the later entries of its chain
		l.links[i].condition = request.NewCondition(entries[i].Match, entries[i].List.Scope(), known)
		l.add(&entries[i], int32(i))
	}
	return l
}

// add puts an entry at the head of its chain.
func (l *lookup) add(entry *Entry, i int32) {
	add := func(c chains, known bool) chains {
		if !known {
			c = noChains
		}
		return l.addByPath(c, entry, i)
	}
	switch id := entry.Match.SpiffeID; {
	case id == nil:
		l.anyID = add(l.anyID, true)
	case id.Type.IsPrefix():
		l.below.Change(id, add)
	default:
		c, known := l.exact[id.Value]
		l.exact[id.Value] = add(c, known)
	}
}

func (l *lookup) addByPath(c chains, entry *Entry, i int32) chains {
	add := func(h heads, known bool) heads {
		if !known {
			h = noHeads
		}
		l.links[i].next, h[entry.List] = h[entry.List], i
		return h
	}
	path := entry.Match.Path
	if path == nil || path.Type == conf.PathRegex {
		c.anyPath = add(c.anyPath, true)
		return c
	}
	if c.paths == nil {
		c.paths = &paths{exact: map[string]heads{}}
	}
	if path.Type == conf.PathPrefix {
		c.paths.below.ChangeBelow(path.Value, add)
		return c
	}
	h, known := c.paths.exact[path.Value]
	c.paths.exact[path.Value] = add(h, known)
	return c
}

// each calls f with the heads of all chains that can match a request.
func (l *lookup) each(r *request.Seen, f func(heads)) {
	l.anyID.each(r, f)
	if r.SpiffeID == "" {
		return
	}
	if c, ok := l.exact[r.SpiffeID]; ok {
		c.each(r, f)
	}
	for c := range l.below.All(r.SpiffeID) {
		c.each(r, f)
	}
}

func (c *chains) each(r *request.Seen, f func(heads)) {
	f(c.anyPath)
	if c.paths == nil || r.NormalPath == "" {
		return
	}
	if h, ok := c.paths.exact[r.NormalPath]; ok {
		f(h)
	}
	for h := range c.paths.below.All(r.NormalPath) {
		f(h)
	}
}

// Entries returns the entries in the order in which they decide, without
// entries that never match on this inbound. The caller must not change the
// slice.
func (l *DecisionList) Entries() []Entry { return l.entries }

// HasShadow reports whether there is a shadow decision: some rule has a
// non-empty allowWithShadowDeny (SPEC 7.4).
func (l *DecisionList) HasShadow() bool { return l.shadow }

// AsksForPath reports whether an entry compares paths. If so, an HTTP inbound
// refuses a request whose path has an escaped slash (SPEC 11.2). A nil list has no
// entries.
func (l *DecisionList) AsksForPath() bool { return l != nil && l.asksForPath }

// Decide returns the answer to a request.
func (l *DecisionList) Decide(r *request.Request) Answer {
	a := Answer{HasShadow: l.shadow}
	seen := request.Seen{Request: *r}
	if l.asksForPath {
		if seen = request.NewSeen(r); seen.PathRefused {
			return a
		}
	}
	first := l.first(&seen)
	switch allow := earlier(first[Allow], first[AllowWithShadowDeny]); {
	case first[Deny] != end:
		a.Decision = Decision{By: &l.entries[first[Deny]].Place}
	case allow != end:
		a.Decision = Decision{Allow: true, By: &l.entries[allow].Place}
	}
	if l.shadow {
		a.Shadow = a.Decision
		if i := first[AllowWithShadowDeny]; i != end {
			a.Shadow = Decision{By: &l.entries[i].Place}
		}
	}
	return a
}

// Needs reports whether a request that an entry decides, given by the entry's index, has
// another decision without the entry. If there is a shadow decision, it returns false.
func (l *DecisionList) Needs(entry int, r *request.Request) bool {
	if l.shadow {
		return false
	}
	seen := request.NewSeen(r)
	chains := l.chains()
	var matches [len(ruleLists)]bool // an entry other than this one
	chains.each(&seen, func(h heads) {
		for list, i := range h {
			for ; i != end && !matches[list]; i = chains.links[i].next {
				matches[list] = int(i) != entry && chains.links[i].condition.Holds(&seen)
			}
		}
	})
	if l.entries[entry].List == Deny {
		return !matches[Deny] && matches[Allow]
	}
	return !matches[Allow]
}

// first returns the first matching entry of each list, or end.
func (l *DecisionList) first(r *request.Seen) heads {
	chains, first := l.chains(), noHeads
	chains.each(r, func(h heads) { chains.improve(&first, h, r) })
	return first
}

// improve replaces the first matching entry of each list if a chain has an
// earlier one.
func (l *lookup) improve(first *heads, chain heads, r *request.Seen) {
	for list, i := range chain {
		for i != end && (first[list] == end || i < first[list]) {
			if l.links[i].condition.Holds(r) {
				first[list] = i
				break
			}
			i = l.links[i].next
		}
	}
}

func earlier(a, b int32) int32 {
	if a == end || b != end && b < a {
		return b
	}
	return a
}
