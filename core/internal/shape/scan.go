package shape

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// Scan returns the policies that select a dataplane, in order. It is the baseline
// without an index: it compares every policy with the dataplane and sorts the
// result.
func Scan(policies []*resource.Policy, d *resource.Dataplane) []*resource.Policy {
	var selected []*resource.Policy
	for _, p := range policies {
		if scanSelects(&p.TargetRef, d) {
			selected = append(selected, p)
		}
	}
	slices.SortFunc(selected, results.DefaultOrder)
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
