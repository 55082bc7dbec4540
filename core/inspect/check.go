package inspect

import (
	"fmt"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
	"github.com/meshmatch/meshmatch/core/strict"
)

// Check is the answer of `check` for valid input.
type Check struct {
	Resources map[string]int `json:"resources"` // how many of each kind
	Warnings  []Warning      `json:"warnings"`  // sorted by place
}

// NewCheck looks at every resource of the view, of all meshes.
func NewCheck(view *core.View) *Check {
	var warnings []strict.Diagnostic
	for _, mesh := range view.Meshes() {
		policies, configs := view.Policies(mesh), distinctConfigs(view, mesh)
		warnings = append(warnings, idlePolicies(policies, configs)...)
		warnings = append(warnings, overriddenItems(policies, configs)...)
		warnings = append(warnings, ignoredFrom(policies, configs)...)
		warnings = append(warnings, idleEntries(view, mesh)...)
	}
	return &Check{Resources: view.Count(), Warnings: newWarnings(strict.Sorted(warnings))}
}

// dataplaneConfig is what the policies of a kind say about a dataplane, and
// about all others that share it.
type dataplaneConfig struct {
	*rules.Config
	dataplane *resource.Dataplane
	shadow    bool // only with the policies that inform
}

// distinctConfigs returns what the policies of a mesh say, with and without
// those that only inform: what counts in either, counts. Dataplanes share
// configs; each comes once, with the first dataplane that has it.
func distinctConfigs(view *core.View, mesh string) []dataplaneConfig {
	var configs []dataplaneConfig
	seen := map[*rules.Config]bool{}
	for _, d := range view.Dataplanes(mesh) {
		for _, shadow := range []bool{false, true} {
			for _, config := range view.Configs(d, core.Scope{Shadow: shadow}) {
				if !seen[config] {
					seen[config] = true
					configs = append(configs, dataplaneConfig{config, d, shadow})
				}
			}
		}
	}
	return configs
}

// idlePolicies warns of policies that select nothing.
func idlePolicies(policies []*resource.Policy, configs []dataplaneConfig) []strict.Diagnostic {
	selecting := map[*resource.Policy]bool{}
	for _, config := range configs {
		for _, m := range config.Matched.All() {
			selecting[m.Policy] = true
		}
	}
	var warnings []strict.Diagnostic
	for _, p := range policies {
		if !selecting[p] {
			warnings = append(warnings, strict.Diagnostic{
				Pos: p.TargetPos, Path: "spec.targetRef",
				What: p.Kind + " \"" + p.Name + "\" selects no dataplane", Hint: "check the targetRef, or remove the policy",
			})
		}
	}
	return warnings
}

// ignoredFrom warns of policies whose `from` does not count on an inbound, as
// other policies of the kind have rules there (SPEC 5.6).
func ignoredFrom(policies []*resource.Policy, configs []dataplaneConfig) []strict.Diagnostic {
	where := map[*resource.Policy]string{} // the first such inbound
	for _, config := range configs {
		for i := range config.Inbounds {
			if !config.Inbounds[i].FromIgnored {
				continue
			}
			for _, m := range config.Matched.All() {
				p := m.Policy
				if config.shadow && !p.Shadow() {
					continue // rules that only inform take nobody's place
				}
				if _, known := where[p]; !known && len(p.From) > 0 && m.Inbounds.Has(i) {
					where[p] = fmt.Sprintf("inbound %s of %s", config.dataplane.Inbounds[i].SectionName(), config.dataplane.Name)
				}
			}
		}
	}
	var warnings []strict.Diagnostic
	for _, p := range policies {
		if inbound, ignored := where[p]; ignored {
			warnings = append(warnings, strict.Diagnostic{
				Pos: p.From[0].Pos, Path: "spec.from",
				What: "does not count on " + inbound + ", where other policies have rules",
				Hint: "write it as rules, or select other inbounds",
			})
		}
	}
	return warnings
}
