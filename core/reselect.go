package core

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/match"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// reselect finds what the selections of a class have become.
func (c *commit) reselect(k, next *class, b *match.Buffer) {
	x, like := c.batch.index, k.profiles[0].like
	if replaced := c.batch.delta.Replaced(); replaced != nil && k.enforced != nil {
		next.enforced = c.patched(k.enforced, replaced, like, nil)
		next.shadow = next.enforced
		if k.shadow != k.enforced {
			next.shadow = c.patched(k.shadow, replaced, like, next.enforced)
		}
		return
	}
	next.enforced = c.selection(x.SelectClass(k.Class, match.Enforced, b), like, k.enforced, k.shadow)
	next.shadow = next.enforced
	if x.HasInforming() {
		next.shadow = c.selection(x.SelectClass(k.Class, match.Shadow, b), like, next.enforced, k.shadow)
	}
}

// patched returns a selection with new versions of policies in the place of
// old ones, the same one if it has none of them. Parts that other has already
// are taken from there.
func (c *commit) patched(s *selection, replaced map[*resource.Policy]*resource.Policy, like *resource.Dataplane, other *selection) *selection {
	next := &selection{parts: slices.Clone(s.parts), routes: s.routes}
	for i, part := range s.parts {
		group := withVersions(part, replaced)
		if group == nil {
			continue
		}
		if made := other.part(part.Kind().Name); made != nil && sameSelected(made.Matched(), group) {
			next.parts[i] = made
		} else {
			next.parts[i] = c.blocks.Part(part.Kind(), like, group)
		}
	}
	if slices.Equal(next.parts, s.parts) {
		return s
	}
	return next
}

// withVersions returns what a part is made of with the new versions, or nil if
// it has none of the old ones. Few of them are looked for one by one.
func withVersions(part *rules.Part, replaced map[*resource.Policy]*resource.Policy) []match.Selected {
	var group []match.Selected
	put := func(n int, p *resource.Policy) {
		if group == nil {
			group = slices.Clone(part.Matched())
		}
		group[n].Policy = p
	}
	if len(replaced) > 4 {
		for n, selected := range part.Matched() {
			if p := replaced[selected.Policy]; p != nil {
				put(n, p)
			}
		}
		return group
	}
	for old, p := range replaced {
		if old.Kind != part.Kind().Name {
			continue
		}
		if n := slices.IndexFunc(part.Matched(), func(s match.Selected) bool { return s.Policy == old }); n >= 0 {
			put(n, p)
		}
	}
	return group
}

// selection returns the parts of a selection, which lives in a buffer. A part
// that one of the earlier selections has is taken from there, and if nothing
// is left to be made, that selection is returned.
func (c *commit) selection(selected []match.Selected, like *resource.Dataplane, earlier ...*selection) *selection {
	s := &selection{routes: routesOf(selected)}
	for group := range kindGroups(selected) {
		s.parts = append(s.parts, c.part(group, like, earlier))
	}
	for _, known := range earlier {
		if known != nil && slices.Equal(known.parts, s.parts) { // routes are policies of parts
			return known
		}
	}
	return s
}

func (c *commit) part(group []match.Selected, like *resource.Dataplane, earlier []*selection) *rules.Part {
	kind := group[0].Policy.Kind
	for _, s := range earlier {
		if known := s.part(kind); known != nil && sameSelected(known.Matched(), group) {
			return known
		}
	}
	return c.blocks.Part(c.kinds.Lookup(kind), like, slices.Clone(group))
}

func sameSelected(a, b []match.Selected) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !a[i].Equal(&b[i]) {
			return false
		}
	}
	return true
}
