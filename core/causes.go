package core

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/match"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// causes is the policies, as they are in one of two states, that are in the
// other one not at all or say something else there.
type causes map[*resource.Policy]bool

func (c *comparison) causes() causes {
	out := causes{}
	if c.before == nil || c.after == nil || c.before.index == c.after.index {
		return out
	}
	for old, next := range c.after.index.Since(c.before.index) {
		for _, p := range []*resource.Policy{old, next} {
			if p != nil && changes(c.before.index.Policy(p.ID), c.after.index.Policy(p.ID), samePolicy) {
				out[p] = true
			}
		}
	}
	return out
}

// of returns the policies among the causes that select the dataplanes of a
// fate in one of the states.
func (c causes) of(f fate) []resource.ID {
	if len(c) == 0 {
		return nil
	}
	var ids []resource.ID
	for _, pair := range [][2]*selection{
		{f.before.selection(), f.after.selection()},
		{f.after.selection(), f.before.selection()},
	} {
		for _, part := range pair[0].all() {
			if other := pair[1].part(part.Kind().Name); other != part {
				for p := range match.Among(part.Matched(), c) {
					ids = append(ids, p.ID)
				}
			}
		}
	}
	slices.SortFunc(ids, resource.ID.Compare)
	return slices.Compact(ids)
}

// selection returns what selects the dataplanes of a profile, with the
// policies that only inform; nil for none.
func (p *profile) selection() *selection {
	if p == nil {
		return nil
	}
	return p.shadow.selection
}

func (s *selection) all() []*rules.Part {
	if s == nil {
		return nil
	}
	return s.parts
}
