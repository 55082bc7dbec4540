package permission

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/kind/meshtrafficpermission"
)

// Reduce returns the permissions without the entries and items for which the
// functions return false: they cannot match any client. The shadow decision
// remains, even if it has no entries left.
func (p *Permissions) Reduce(entry func(*Entry) bool, client func(*Client) bool) *Permissions {
	reduced := *p
	if p.Rules != nil {
		entries := slices.Clone(p.Rules.entries)
		entries = slices.DeleteFunc(entries, func(e Entry) bool { return !entry(&e) })
		reduced.Rules = newDecisionList(entries, p.Rules.shadow)
		reduced.Rules.asksForPath = p.Rules.asksForPath
	}
	if p.Clients != nil {
		items := slices.Clone(p.Clients.items)
		items = slices.DeleteFunc(items, func(c Client) bool { return !client(&c) })
		reduced.Clients = &Clients{items, p.Clients.shadow}
	}
	return &reduced
}

// AllowsSome reports whether an entry or item allows a client.
func (p *Permissions) AllowsSome() bool {
	if p.Clients == nil {
		return p.NotApplied || p.Rules != nil && slices.ContainsFunc(p.Rules.Entries(), func(e Entry) bool { return e.List != Deny })
	}
	return slices.ContainsFunc(p.Clients.items, func(c Client) bool { return c.Action != meshtrafficpermission.Deny })
}

// AllowsEveryClient reports whether every request of every client is allowed. It
// is false for rules: each entry that allows has a condition (SPEC 7.2).
func (p *Permissions) AllowsEveryClient() bool {
	if p.Clients == nil {
		return p.NotApplied
	}
	for i := range p.Clients.items {
		item := &p.Clients.items[i]
		if item.Action == meshtrafficpermission.Deny {
			return false
		}
		if len(item.Tags) == 0 {
			return true
		}
	}
	return false
}
