package inspect

import (
	"github.com/meshmatch/meshmatch/core/kind/meshtrafficpermission"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/request"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// accessDiffs finds the inbounds that open or close (see [Diff]). Inbounds share
// their permissions, and each pair is compared once.
//
// Rules are compared by their entries: an inbound opens only if an allow entry
// is added or a deny entry removed, so no such inbound is missed. An entry that
// changes nothing, because another one covers it, is not compared; beyond that
// the inbound is reported even if other entries together have the same effect.
// The `from` of two views is compared client by client, exactly.
type accessDiffs struct {
	known map[accessPair]accessDiff
}

type accessPair struct{ before, after permissionsOf }

type accessDiff struct{ opens, closes bool }

// permissionsOf is what the permissions of an inbound are made from.
// Dataplanes share configs.
type permissionsOf struct {
	config   *rules.Config // nil: no permission selects the dataplane
	inbound  int
	protocol request.Protocol
	open     bool // none is applied
}

func newPermissionsOf(config *rules.Config, d *resource.Dataplane, inbound int, open bool) permissionsOf {
	if open {
		config = nil
	}
	return permissionsOf{config, inbound, request.ProtocolOf(&d.Inbounds[inbound]), open}
}

// add compares the inbounds that a dataplane has in both views.
func (a *accessDiffs) add(d *differ, p pair, before, after []*rules.Config) {
	if p.before == nil || p.after == nil || d.after.kind != "" && d.after.kind != permission.KindName {
		return
	}
	if a.known == nil {
		a.known = map[accessPair]accessDiff{}
	}
	old, next := permissionsIn(before), permissionsIn(after)
	wasOpen, isOpen := !d.before.view.PermissionsApply(p.before), !d.after.view.PermissionsApply(p.after)
	for i := range p.after.Inbounds {
		name := uniqueInboundName(p.after, i)
		for j := range p.before.Inbounds {
			if uniqueInboundName(p.before, j) != name {
				continue
			}
			key := accessPair{newPermissionsOf(old, p.before, j, wasOpen), newPermissionsOf(next, p.after, i, isOpen)}
			diff, known := a.known[key]
			if !known {
				diff = a.compare(d.clients, permissionsFor(old, p.before, j, !wasOpen), permissionsFor(next, p.after, i, !isOpen), key)
				a.known[key] = diff
			}
			inbound := InboundOf{dataplaneKRI(d.after.view, p.after), name, qualifiedName(&p.after.Meta)}
			if diff.opens {
				d.diff.Opens = append(d.diff.Opens, inbound)
			}
			if diff.closes {
				d.diff.Closes = append(d.diff.Closes, inbound)
			}
		}
	}
}

// permissionsIn returns the config of permissions, nil if no permission selects the
// dataplane.
func permissionsIn(configs []*rules.Config) *rules.Config {
	for _, config := range configs {
		if config.Kind.Name == permission.KindName {
			return config
		}
	}
	return nil
}

func (a *accessDiffs) compare(clients *clientDiffs, before, after *permission.Permissions, key accessPair) (diff accessDiff) {
	if before.NotApplied || after.NotApplied {
		return accessDiff{opens: !before.AllowsEveryClient(), closes: !after.AllowsEveryClient()}
	}
	if before.Clients == nil && after.Clients == nil {
		old, next := decidingEntries(before.Rules), decidingEntries(after.Rules)
		return accessDiff{
			opens:  next.allows() && (next.hasMore(old, false) || old.hasMore(next, true)),
			closes: old.allows() && (old.hasMore(next, false) || next.hasMore(old, true)),
		}
	}
	if before.Rules != nil || after.Rules != nil { // tags and SPIFFE IDs are not comparable
		return accessDiff{opens: allowsAny(after), closes: allowsAny(before)}
	}
	parts := clients.parts(fromPair{key.before.from(), key.after.from()})
	for _, part := range parts.parts {
		allowed, allows := allowsClient(part.before), allowsClient(part.after)
		diff.opens = diff.opens || allows && !allowed
		diff.closes = diff.closes || allowed && !allows
	}
	return diff
}

func (p permissionsOf) from() *rules.From {
	if p.config == nil {
		return nil
	}
	return p.config.Inbounds[p.inbound].From
}

func allowsClient(e *rules.Effective) bool {
	if e == nil {
		return false
	}
	action := e.Conf.(*meshtrafficpermission.Conf).Action
	return action != nil && *action != meshtrafficpermission.Deny
}

// entrySet is the entries that change a decision.
type entrySet map[decidingEntry]bool

type decidingEntry struct {
	match string
	deny  bool
}

func decidingEntries(list *permission.DecisionList) entrySet {
	set := entrySet{}
	if list == nil {
		return set
	}
	idle := map[permission.Place]bool{}
	for _, entry := range list.Shadowed() {
		idle[entry.Place] = true
	}
	for _, entry := range list.Entries() {
		if !idle[entry.Place] {
			set[decidingEntry{entry.Match.Key(), entry.List == permission.Deny}] = true
		}
	}
	return set
}

// hasMore reports whether s has an entry that denies, or allows, which other
// does not have.
func (s entrySet) hasMore(other entrySet, deny bool) bool {
	for entry := range s {
		if entry.deny == deny && !other[entry] {
			return true
		}
	}
	return false
}

func (s entrySet) allows() bool { return s.hasMore(nil, false) }

// allowsAny reports whether an inbound allows any request.
func allowsAny(p *permission.Permissions) bool {
	if p.NotApplied {
		return true
	}
	if p.Clients == nil {
		return decidingEntries(p.Rules).allows()
	}
	for _, item := range p.Clients.Items() {
		// The client that has these tags only is selected by no more items
		// than any other client that has them.
		if p.Clients.Decide(onlyTags(item.Tags)).Decision.Allow {
			return true
		}
	}
	return false
}

// onlyTags returns the tags of a client that a selector selects. A key that may
// have any value has one that no selector asks for, as it is not allowed in a
// selector.
func onlyTags(selector resource.Tags) resource.Tags {
	tags := make(resource.Tags, len(selector))
	for i, tag := range selector {
		if tag.Value == resource.AnyValue {
			tag.Value = "\x00"
		}
		tags[i] = tag
	}
	return tags
}
