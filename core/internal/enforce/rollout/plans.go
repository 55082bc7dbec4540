package rollout

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
)

// Plans is the output of `rollout plan` (SPEC 8.6).
type Plans struct {
	Rollouts []*Plan `json:"rollouts"` // sorted by name
}

// NewPlans plans every rollout among the resources. A rollout and its placement are in
// the same namespace; a rollout without a namespace uses the only placement with the
// name. The warnings are sorted by position.
func NewPlans(resources *ocm.Resources, now time.Time) (*Plans, []diag.Diagnostic) {
	plans := &Plans{Rollouts: []*Plan{}}
	var warnings []diag.Diagnostic
	rollouts := slices.Clone(resources.Rollouts)
	slices.SortFunc(rollouts, func(a, b *ocm.Rollout) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Namespace, b.Namespace))
	})
	for _, r := range rollouts {
		decisions, problem := decisionsOf(r, resources.PlacementDecisions)
		if problem != "" {
			warnings = append(warnings, diag.Diagnostic{Code: diag.PlacesNothing, Pos: r.Placement.Pos, Path: r.Placement.Path, What: problem})
		}
		groups := Groups(decisions)
		for i, ref := range r.Strategy.MandatoryGroups {
			if find(groups, ref) == nil {
				warnings = append(warnings, diag.Diagnostic{
					Code: diag.MissingReference, Pos: r.Pos, Path: fmt.Sprintf("strategy.mandatoryDecisionGroups[%d]", i),
					What: "the placement has no such decision group",
				})
			}
		}
		plans.Rollouts = append(plans.Rollouts, New(r, groups, now))
	}
	return plans, diag.Sorted(warnings)
}

// decisionsOf returns the decisions of a rollout's placement, or the reason why
// there are none.
func decisionsOf(r *ocm.Rollout, all []*ocm.PlacementDecision) (decisions []*ocm.PlacementDecision, problem string) {
	var namespaces []string
	for _, d := range all {
		if d.Placement == r.Placement.Name && (r.Namespace == "" || d.Namespace == r.Namespace) {
			decisions = append(decisions, d)
			namespaces = append(namespaces, d.Namespace)
		}
	}
	slices.Sort(namespaces)
	switch namespaces = slices.Compact(namespaces); {
	case len(namespaces) == 0:
		return nil, fmt.Sprintf("Placement %q has no decisions", r.Placement.Name)
	case len(namespaces) == 1:
		return decisions, ""
	}
	own := slices.DeleteFunc(decisions, func(d *ocm.PlacementDecision) bool { return d.Namespace != "" })
	if len(own) == 0 {
		return nil, fmt.Sprintf("Placement %q is in several namespaces; add a label for one of them: %s", r.Placement.Name, strings.Join(namespaces, ", "))
	}
	return own, ""
}
