package access

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/kind/meshtrafficpermission"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
)

// List decides the requests to an inbound: the first entry that matches decides. If none
// matches, the request is denied, unless the list is open. It must not be changed.
type List struct {
	Entries []Entry
	Open    bool // no permission is applied
}

// Entry is an entry of rules, or an item of `from`.
type Entry struct {
	Match      *conf.Match        // nil: no condition
	ValueScope request.ValueScope // of the match's conditions on headers
	Tags       resource.Tags      // of the client; a value may be [resource.AnyValue]
	Allow      bool
	By         *permission.Place
	// When is a further condition, of a proxy's filter. Only [CompareChain] and [Outcomes] read
	// entries that have one: no condition in terms of policies describes them.
	When *Requests
}

// ListOf returns the list for an inbound's permissions.
func ListOf(p *permission.Permissions) *List {
	return listOf(p, permission.Deny)
}

// ShadowListOf returns the list for the shadow decision, in which allowWithShadowDeny
// denies (SPEC 7.4). Its entries decide before the entries of deny.
func ShadowListOf(p *permission.Permissions) *List {
	return listOf(p, permission.AllowWithShadowDeny, permission.Deny)
}

// listOf puts the entries of the denying lists first.
func listOf(p *permission.Permissions, denies ...permission.List) *List {
	l := &List{Open: p.NotApplied}
	if p.Rules != nil {
		entries := p.Rules.Entries()
		add := func(allow bool, wanted func(permission.List) bool) {
			for i := range entries {
				if e := &entries[i]; wanted(e.List) {
					l.Entries = append(l.Entries, Entry{Match: e.Match, ValueScope: e.List.Scope(), Allow: allow, By: &e.Place})
				}
			}
		}
		for _, list := range denies {
			add(false, func(l permission.List) bool { return l == list })
		}
		add(true, func(l permission.List) bool { return !slices.Contains(denies, l) })
	}
	if p.Clients != nil {
		items := p.Clients.Items()
		for i := range items {
			item := &items[i]
			allow := item.Action == meshtrafficpermission.Allow ||
				item.Action == meshtrafficpermission.AllowWithShadowDeny && !slices.Contains(denies, permission.AllowWithShadowDeny)
			l.Entries = append(l.Entries, Entry{Tags: item.Tags, Allow: allow, By: &item.Place})
		}
	}
	return l
}

// ComparesTags reports whether an entry compares the tags of clients.
func (l *List) ComparesTags() bool {
	return slices.ContainsFunc(l.Entries, func(e Entry) bool { return len(e.Tags) > 0 })
}

// Space describes the requests that an inbound can receive.
type Space struct {
	Protocol request.Protocol
	// Plain means that clients have no certificates: they have no SPIFFE ID, send no
	// server name, and have no known tags.
	Plain bool
	// NoTags means that certificates have no tags: clients have none.
	NoTags bool
	// TrustDomains are the possible trust domains of SPIFFE IDs; empty: any.
	TrustDomains []string
	// Queries means that paths have queries, which no entry of a policy compares. Paths that
	// an inbound refuses if it compares paths are not among them.
	Queries bool
	// Raw means that paths are compared as a client sends them; only [Outcomes] reads it.
	Raw bool
	// Client is the client of all requests; nil: any.
	Client *KnownClient
	// partial contains the known parts of all requests; nil: no part is known.
	partial *partial
}

// KnownClient is a known client.
type KnownClient struct {
	SpiffeID string // "": the client has none
	Tags     resource.Tags
}

// Decision is a decision about a request, and the entry that makes it.
type Decision = permission.Decision

// Limits bounds the cost of questions.
type Limits struct {
	// Work is the maximum number of steps of a question. A step compares an entry in one
	// division of the requests, or makes a state of the automaton of expressions. A
	// million steps take about 130 ms. Zero means [DefaultWork].
	Work int
	// Left is the number of steps that several questions may take together; each question
	// reduces it. Nil means no such limit.
	Left *int
}

// DefaultWork is the default limit of a question.
const DefaultWork = 1 << 24

// Shared returns limits for several questions: the steps of each, and of all
// together.
func Shared(each, together int) Limits { return Limits{Work: each, Left: &together} }

// steps returns the number of steps that a question may take.
func (l *Limits) steps() int {
	work := l.Work
	if work <= 0 {
		work = DefaultWork
	}
	if l.Left != nil {
		work = min(work, max(*l.Left, 0))
	}
	return work
}
