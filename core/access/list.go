package access

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/kind/meshtrafficpermission"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/request"
	"github.com/meshmatch/meshmatch/core/resource"
)

// List is what decides about the requests to an inbound: the first entry that matches. If
// none does, requests are denied, unless the list is open. It must not be changed.
type List struct {
	Entries []Entry
	Open    bool // no permission is applied
}

// Entry is an entry of rules, or an item of `from`.
type Entry struct {
	Match *conf.Match   // nil: no condition
	Scope request.Scope // of the match's conditions on headers
	Tags  resource.Tags // of the client; a value may be [resource.AnyValue]
	Allow bool
	By    *permission.Place
}

// ListOf returns the list of an inbound's permissions.
func ListOf(p *permission.Permissions) *List {
	return listOf(p, permission.Deny)
}

// ShadowListOf returns the list of the shadow decision, which is as if
// allowWithShadowDeny were deny (SPEC 7.4). Entries of it decide before those of deny.
func ShadowListOf(p *permission.Permissions) *List {
	return listOf(p, permission.AllowWithShadowDeny, permission.Deny)
}

// listOf puts the entries of some lists first, which deny.
func listOf(p *permission.Permissions, denies ...permission.List) *List {
	l := &List{Open: p.NotApplied}
	if p.Rules != nil {
		entries := p.Rules.Entries()
		add := func(allow bool, wanted func(permission.List) bool) {
			for i := range entries {
				if e := &entries[i]; wanted(e.List) {
					l.Entries = append(l.Entries, Entry{Match: e.Match, Scope: e.List.Scope(), Allow: allow, By: &e.Place})
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

// Space is the requests that an inbound can receive.
type Space struct {
	Protocol request.Protocol
	// Plain reports that clients have no certificates, so they have no SPIFFE ID, send
	// no server name, and their tags are not known.
	Plain bool
	// TrustDomains are those that SPIFFE IDs may be of; empty: any.
	TrustDomains []string
	// Client is the client of all requests; nil: any.
	Client *Client
	// partial is what is known of all requests; nil: nothing.
	partial *partial
}

// Client is a client that is known.
type Client struct {
	SpiffeID string // "": it has none
	Tags     resource.Tags
}

// Decision is what decides about a request.
type Decision = permission.Decision

// Limits bounds the cost of questions.
type Limits struct {
	// Work is the maximum number of steps of a question: an entry that is compared in one
	// division of the requests, or a state of the automaton of expressions. A million
	// steps take about 130 ms. Zero means [DefaultWork].
	Work int
	// Left is what several questions may take together; each of them reduces it. Nil means
	// no such limit.
	Left *int
}

// DefaultWork is the limit of a question that has none.
const DefaultWork = 1 << 24

// Shared returns limits of questions that take some steps each, and some together.
func Shared(each, together int) Limits { return Limits{Work: each, Left: &together} }

// steps returns how many steps a question may take.
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
