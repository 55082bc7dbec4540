package bench

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/match"
	"github.com/meshmatch/meshmatch/core/resource"
)

// scan is what a control plane without an index does, written as well as that
// goes: it looks at every policy, then sorts what it found.
func scan(policies []*resource.Policy, d *resource.Dataplane) []*resource.Policy {
	var selected []*resource.Policy
	for _, p := range policies {
		if scanSelects(&p.TargetRef, d) {
			selected = append(selected, p)
		}
	}
	slices.SortFunc(selected, match.DefaultOrder)
	return selected
}

func scanSelects(t *resource.TargetRef, d *resource.Dataplane) bool {
	switch t.Kind {
	case resource.TargetMesh:
		return true
	case resource.TargetDataplane:
		return d.Labels.Contains(t.Labels) && (t.SectionName == "" || slices.ContainsFunc(d.Inbounds, func(i resource.Inbound) bool {
			return i.SectionName() == t.SectionName
		}))
	}
	for i := range d.Inbounds {
		tags := d.Inbounds[i].Tags
		if tags.Contains(t.Tags) && (t.Name == "" || tags.Value(resource.ServiceTag) == t.Name) {
			return true
		}
	}
	return false
}
