package mesh

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/match"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// causes contains the versions of policies, of either state, that are missing or
// have other content in the other state.
type causes map[*resource.Policy]bool

func (c *comparison) causes() causes {
	out := causes{}
	if c.before == nil || c.after == nil || c.before.index == c.after.index {
		return out
	}
	for old, next := range c.after.index.Since(c.before.index) {
		for _, p := range []*resource.Policy{old, next} {
			if p != nil && differs(c.before.index.Policy(p.ID), c.after.index.Policy(p.ID), equalPolicy) {
				out[p] = true
			}
		}
	}
	return out
}

// policiesFor returns the identities of the causes that select the dataplanes of a group
// in one of the states.
func (c causes) policiesFor(key changeKey) []resource.ID {
	if len(c) == 0 {
		return nil
	}
	var ids []resource.ID
	for _, pair := range [][2]*classConfigs{
		{key.before.class(), key.after.class()},
		{key.after.class(), key.before.class()},
	} {
		if pair[0] == nil {
			continue
		}
		for _, config := range pair[0].configs {
			other := pair[1].configFor(config.Kind().Name)
			if other == config {
				continue
			}
			var shared results.Matched
			if other != nil {
				shared = other.Matched()
			}
			for p := range match.Among(config.Matched(), shared, c) {
				ids = append(ids, p.ID)
			}
		}
	}
	slices.SortFunc(ids, resource.ID.Compare)
	return slices.Compact(ids)
}

// class returns the class configs by all policies, including those that only
// inform; nil for a nil profile.
func (p *profileView) class() *classConfigs {
	if p == nil {
		return nil
	}
	return p.shadow.class
}
