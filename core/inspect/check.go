package inspect

import (
	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/match"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/strict"
)

// Check is the answer of `check` for valid input.
type Check struct {
	Resources map[string]int `json:"resources"` // how many of each kind
	Warnings  []Warning      `json:"warnings"`  // sorted by place
}

// Warning is something that is valid and has no effect.
type Warning struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Path    string `json:"path"`
	Message string `json:"message"`
}

// NewCheck looks at every resource of the view.
func NewCheck(view *core.View) *Check {
	answer := &Check{Resources: view.Count(), Warnings: []Warning{}}
	var warnings []strict.Diagnostic
	for _, mesh := range view.Meshes() {
		warnings = append(warnings, idlePolicies(view, mesh)...)
		warnings = append(warnings, overriddenItems(view, mesh)...)
		warnings = append(warnings, idleEntries(view, mesh)...)
	}
	for _, w := range strict.Sorted(warnings) {
		answer.Warnings = append(answer.Warnings, Warning{w.Pos.File, w.Pos.Line, w.Pos.Column, w.Path, w.Message()})
	}
	return answer
}

// idlePolicies warns of policies that select nothing.
func idlePolicies(view *core.View, mesh string) []strict.Diagnostic {
	selecting := map[*resource.Policy]bool{}
	var buffer match.Buffer
	for _, d := range view.Dataplanes(mesh) {
		for _, s := range view.Select(d, core.Scope{Shadow: true}, &buffer) {
			selecting[s.Policy] = true
		}
	}
	var warnings []strict.Diagnostic
	for _, p := range view.Policies(mesh) {
		if !selecting[p] {
			warnings = append(warnings, strict.Diagnostic{
				Pos: p.TargetPos, Path: "spec.targetRef",
				What: p.Kind + " \"" + p.Name + "\" selects no dataplane", Hint: "check the targetRef, or remove the policy",
			})
		}
	}
	return warnings
}
