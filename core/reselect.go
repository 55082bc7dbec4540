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
		next.enforced = c.patched(k.enforced, replaced, like, nil, nil)
		next.shadow = next.enforced
		if k.shadow != k.enforced {
			next.shadow = c.patched(k.shadow, replaced, like, k.enforced, next.enforced)
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
// old ones, the same one if it has none of them. What before became after is
// not made again.
func (c *commit) patched(s *selection, replaced map[*resource.Policy]*resource.Policy, like *resource.Dataplane, before, after *selection) *selection {
	next := &selection{parts: slices.Clone(s.parts), routes: s.routes}
	for i, part := range s.parts {
		if before != nil {
			if at := slices.Index(before.parts, part); at >= 0 {
				next.parts[i] = after.parts[at]
				continue
			}
		}
		if matched, any := part.Matched().Replace(replaced); any {
			next.parts[i] = c.blocks.Part(part.Kind(), like, matched)
		}
	}
	if slices.Equal(next.parts, s.parts) {
		return s
	}
	return next
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
		if known := s.part(kind); known != nil && known.Matched().Is(group) {
			return known
		}
	}
	return c.blocks.Part(c.kinds.Lookup(kind), like, match.NewMatched(group))
}
