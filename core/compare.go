package core

import (
	"cmp"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/rules"
	"github.com/meshmatch/meshmatch/index"
)

// Compare returns what happened to dataplanes from one view to another, by mesh,
// action and first identity. It depends on what the views say, not on how they
// came about. A dataplane is in one change at most. A change that makes no
// difference to any conf, its origins or what the dataplane's resource says is
// left out, as is where resources stand in files.
//
// Views of one engine are compared at the cost of what differs between them,
// however many commits lie between; any others by looking at every dataplane.
func Compare(before, after *View) []Change {
	var changes []Change
	old, next := before.meshes, after.meshes
	for len(old)+len(next) > 0 {
		var a, b *meshView
		switch {
		case len(next) == 0 || len(old) > 0 && strings.Compare(old[0].name, next[0].name) < 0:
			a, old = old[0], old[1:]
		case len(old) == 0 || strings.Compare(old[0].name, next[0].name) > 0:
			b, next = next[0], next[1:]
		default:
			a, b, old, next = old[0], next[0], old[1:], next[1:]
		}
		if a != b {
			changes = append(changes, compareMeshes(a, b)...)
		}
	}
	return changes
}

// fate is what makes dataplanes one [Change].
type fate struct {
	action        Action
	itself        bool
	before, after *profile
}

// comparison of two states of a mesh, of which one may be missing.
type comparison struct {
	before, after *meshView
	fates         map[fate]*index.SetEditor
}

func compareMeshes(before, after *meshView) []Change {
	c := &comparison{before: before, after: after, fates: map[fate]*index.SetEditor{}}
	if before != nil && after != nil && before.lineage == after.lineage {
		c.versions()
	} else {
		c.strangers()
	}
	return c.changes()
}

func (c *comparison) add(f fate, slot uint32) {
	slots := c.fates[f]
	if slots == nil {
		slots = new(index.SetEditor)
		c.fates[f] = slots
	}
	slots.Add(slot)
}

// versions looks at the slots and profiles that are not shared. A dataplane
// that left and came back may have another slot.
func (c *comparison) versions() {
	var edited index.SetEditor // slots whose entry is another one
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
		if stayed := c.after.members.Value(number).AndNot(moved); stayed.Len() > 0 {
			slots := stayed.Edit()
			c.fates[fate{Changed, false, old, next}] = &slots
		}
	}
	for slot := range moved.All() {
		c.leave(slot)
		c.come(slot)
	}
}

// strangers looks at every dataplane: slots of the two states mean different
// things.
func (c *comparison) strangers() {
	if c.before != nil {
		for slot := range c.before.slots.Limit() {
			c.leave(slot)
		}
	}
	if c.after != nil {
		for slot := range c.after.slots.Limit() {
			c.come(slot)
		}
	}
}

// leave looks for the dataplane that is in a slot before.
func (c *comparison) leave(slot uint32) {
	d := c.before.dataplanes.Value(slot).resource
	if d != nil && (c.after == nil || c.after.dataplane(d.ID) == nil) {
		c.add(fate{Left, true, c.before.profileAt(slot), nil}, slot)
	}
}

// come looks for the dataplane that is in a slot after.
func (c *comparison) come(slot uint32) {
	d := c.after.dataplanes.Value(slot).resource
	if d == nil {
		return
	}
	next := c.after.profileAt(slot)
	if c.before != nil {
		if at, known := c.before.slots.Lookup(proxyName{d.Namespace, d.Name}); known {
			itself := !sameDataplane(c.before.dataplanes.Value(at).resource, d)
			c.add(fate{Changed, itself, c.before.profileAt(at), next}, slot)
			return
		}
	}
	c.add(fate{Joined, true, nil, next}, slot)
}

// profileAt returns the profile of a slot that is not free.
func (m *meshView) profileAt(slot uint32) *profile {
	return m.profiles.Value(m.dataplanes.Value(slot).profile)
}

// changes explains the fates.
func (c *comparison) changes() []Change {
	causes := c.causes()
	changes := make([]Change, 0, len(c.fates))
	for f, slots := range c.fates {
		change := Change{
			Action: f.action, Itself: f.itself, before: f.before, after: f.after,
			Places: rules.Differences(f.before.configs(Scope{}), f.after.configs(Scope{})),
		}
		change.Shadow = change.Places
		if f.before.informed() || f.after.informed() {
			change.Shadow = rules.Differences(f.before.configs(Scope{Shadow: true}), f.after.configs(Scope{Shadow: true}))
		}
		if !f.itself && len(change.Places)+len(change.Shadow) == 0 {
			continue
		}
		change.view = c.after
		if f.action == Left {
			change.view = c.before
		}
		change.Mesh, change.slots = change.view.name, slots.Commit()
		change.first = change.leastID()
		change.Policies = causes.of(f)
		changes = append(changes, change)
	}
	slices.SortFunc(changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.Action, b.Action), a.first.Compare(b.first))
	})
	return changes
}

// informed tells whether the shadow confs are others than the effective ones.
func (p *profile) informed() bool { return p != nil && p.shadow != p.enforced }
