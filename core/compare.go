package core

import (
	"cmp"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/internal/sorted"
	"github.com/meshmatch/meshmatch/core/rules"
	"github.com/meshmatch/meshmatch/index"
)

// Compare returns what changed for dataplanes from one view to another, sorted by
// mesh, action and first identity. The result depends on the content of the views
// alone, not on the commits between them. A dataplane is in one change at most.
// What changes no conf, no origin and no content of the dataplane's resource is
// left out; so are positions in files.
//
// A MeshIdentity or MeshTrust is no part of a configuration, so what it changes,
// such as the SPIFFE IDs of dataplanes, is in no change: compare what
// [View.Identities] and [View.Trusts] return for both views, which is shared until it
// changes.
//
// Comparing two views of one engine costs what differs between them, however many
// commits lie between; comparing other views visits every dataplane.
func Compare(before, after *View) []Change {
	var changes []Change
	byName := func(a, b *meshView) int { return strings.Compare(a.name, b.name) }
	for a, b := range sorted.Join(before.meshes, after.meshes, byName) {
		if a != b {
			changes = append(changes, compareMeshes(a, b)...)
		}
	}
	return changes
}

// comparison compares two states of a mesh, of which one may be nil.
type comparison struct {
	before, after *meshView
	groups        map[changeKey]*changeGroup
}

// changeKey is what the dataplanes of one [Change] have in common.
type changeKey struct {
	action        Action
	ownResource   bool
	before, after *profileView
}

// changeGroup contains the dataplanes with one changeKey.
type changeGroup struct {
	slots   index.SetEditor
	members *memberSet // with the same slots, or nil
}

func compareMeshes(before, after *meshView) []Change {
	c := &comparison{before: before, after: after, groups: map[changeKey]*changeGroup{}}
	if before != nil && after != nil && before.lineage == after.lineage {
		c.compareVersions()
	} else {
		c.compareAll()
	}
	return c.changes()
}

func (c *comparison) add(key changeKey, slot uint32) {
	group := c.groups[key]
	if group == nil {
		group = new(changeGroup)
		c.groups[key] = group
	}
	group.slots.Add(slot)
	group.members = nil
}

// compareVersions compares the slots and profiles that two versions of one
// lineage do not share. A dataplane that was removed and added again may have
// another slot.
func (c *comparison) compareVersions() {
	var edited index.SetEditor // slots with different entries
	for slot := range c.after.dataplanes.Unshared(&c.before.dataplanes) {
		if c.before.dataplanes.Value(slot) != c.after.dataplanes.Value(slot) {
			edited.Add(slot)
		}
	}
	moved := edited.Commit()
	for number := range c.after.profiles.Unshared(&c.before.profiles) {
		old, next := c.before.profiles.Value(number), c.after.profiles.Value(number)
		if old == next || old == nil || next == nil {
			continue
		}
		members := c.after.members.Value(number)
		stayed := members.set().AndNot(moved)
		if stayed.Len() == 0 {
			continue
		}
		group := &changeGroup{slots: stayed.Edit()}
		if stayed.Len() == members.set().Len() {
			group.members = members
		}
		c.groups[changeKey{Changed, false, old, next}] = group
	}
	for slot := range moved.All() {
		c.addLeft(slot)
		c.addPresent(slot)
	}
}

// compareAll compares every dataplane: slots have different meanings in the two
// states.
func (c *comparison) compareAll() {
	if c.before != nil {
		for slot := range c.before.slots.Limit() {
			c.addLeft(slot)
		}
	}
	if c.after != nil {
		for slot := range c.after.slots.Limit() {
			c.addPresent(slot)
		}
	}
}

// addLeft adds the dataplane in a slot of the state before, if it was removed.
func (c *comparison) addLeft(slot uint32) {
	d := c.before.dataplanes.Value(slot).resource
	if d != nil && (c.after == nil || c.after.dataplane(d.ID) == nil) {
		c.add(changeKey{Left, true, c.before.profileAt(slot), nil}, slot)
	}
}

// addPresent adds the dataplane in a slot of the state after, if there is one.
func (c *comparison) addPresent(slot uint32) {
	d := c.after.dataplanes.Value(slot).resource
	if d == nil {
		return
	}
	next := c.after.profileAt(slot)
	if c.before != nil {
		if at, known := c.before.slots.Lookup(proxyName{d.Namespace, d.Name}); known {
			own := !sameDataplane(c.before.dataplanes.Value(at).resource, d)
			c.add(changeKey{Changed, own, c.before.profileAt(at), next}, slot)
			return
		}
	}
	c.add(changeKey{Joined, true, nil, next}, slot)
}

// profileAt returns the profile of a slot in use.
func (m *meshView) profileAt(slot uint32) *profileView {
	return m.profiles.Value(m.dataplanes.Value(slot).profile)
}

// changes returns a change for each group, with its places and causes.
func (c *comparison) changes() []Change {
	causes := c.causes()
	changes := make([]Change, 0, len(c.groups))
	for key, group := range c.groups {
		change := Change{
			Action: key.action, OwnResource: key.ownResource, before: key.before, after: key.after,
			Places: rules.Differences(key.before.configs(Enforced), key.after.configs(Enforced)),
		}
		change.Shadow = change.Places
		if key.before.informed() || key.after.informed() {
			change.Shadow = rules.Differences(key.before.configs(Shadow), key.after.configs(Shadow))
		}
		if !key.ownResource && len(change.Places)+len(change.Shadow) == 0 {
			continue
		}
		change.view = c.after
		if key.action == Left {
			change.view = c.before
		}
		change.Mesh, change.slots = change.view.name, group.slots.Commit()
		if group.members != nil {
			change.first = group.members.first(change.view)
		} else {
			change.first = change.view.first(change.slots)
		}
		change.Policies = causes.of(key)
		change.Bindings = c.bindings(key, change.first)
		changes = append(changes, change)
	}
	slices.SortFunc(changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.Action, b.Action), a.first.Compare(b.first))
	})
	return changes
}
