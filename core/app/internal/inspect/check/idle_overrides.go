package check

import (
	"fmt"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/enforce"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/resource"
)

// PlacementWarnings returns warnings about valid placements and bindings without
// effect, sorted by position: the warnings of [enforce.Hub.Warnings], and
// overrides that enforce a policy of a mesh on no dataplane.
func PlacementWarnings(view *core.View) []diag.Diagnostic {
	var policies []*resource.Policy
	var warnings []diag.Diagnostic
	for _, mesh := range view.Meshes() {
		for _, p := range view.Policies(mesh) {
			policies = append(policies, p)
			warnings = append(warnings, idleOverrides(view, p)...)
		}
	}
	return diag.Sorted(append(warnings, view.Enforcement().Warnings(policies)...))
}

// idleOverrides warns of the bindings whose override enforces a policy on none of
// the dataplanes that the policy selects. Package enforce warns of a placement
// that selects nothing at all.
func idleOverrides(view *core.View, p *resource.Policy) []diag.Diagnostic {
	state := view.Enforcement()
	bindings := state.Bindings(&p.ID)
	if !p.Shadow() || len(bindings) == 0 {
		return nil
	}
	selected, _ := view.SelectedBy(p.ID) // the view contains the policy
	enforcing := map[string]bool{}       // by the name of the binding
	for _, s := range selected {
		if target := state.MeshTarget(p, s.Dataplane); target.Action == ocm.Enforce {
			for _, binding := range target.Because {
				enforcing[binding] = true
			}
		}
	}
	var warnings []diag.Diagnostic
	for _, b := range bindings {
		_, selects := state.Condition(enforce.PlacementOf(b))
		if len(selected) == 0 || !b.Enforce || enforcing[b.Name] || !selects {
			continue
		}
		warnings = append(warnings, diag.Diagnostic{
			Code: diag.OverrideNoEffect, Pos: b.Placement.Pos, Path: b.Placement.Path,
			What: fmt.Sprintf("the override has no effect: %s %q contains none of the %d dataplanes that %s selects", b.Placement.Kind, b.Placement.Name, len(selected), p.ID),
			Hint: "its clusters are the zones of dataplanes, and its dataplaneSelector selects their labels",
		})
	}
	return warnings
}
