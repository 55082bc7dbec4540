package inspect

import (
	"fmt"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
	"github.com/meshmatch/meshmatch/core/strict"
)

// idleEntries warns of permission entries that an inbound can not see in full
// (SPEC 7.5), and of those that change nothing on any inbound.
func idleEntries(view *core.View, mesh string) []strict.Diagnostic {
	e := entries{counts: map[permission.Place]bool{}, seen: map[inboundOf]bool{}}
	for _, d := range view.Dataplanes(mesh) {
		for _, shadow := range []bool{false, true} { // what either counts in, counts
			for _, config := range view.Configs(d, core.Scope{Kind: permission.KindName, Shadow: shadow}) {
				for i := range config.Inbounds {
					e.inbound(config, d, i)
				}
			}
		}
	}
	policies := map[string]*resource.Policy{}
	for _, p := range view.Policies(mesh) {
		policies[p.KRI()] = p
	}
	for _, place := range e.order {
		if e.counts[place] {
			continue
		}
		e.warnings = append(e.warnings, strict.Diagnostic{
			Pos:  policies[place.KRI].Rules[place.Rule].Pos,
			Path: fmt.Sprintf("spec.rules[%d].default.%s[%d]", place.Rule, place.List, place.Index),
			What: "changes nothing: another entry decides about everything that it matches",
			Hint: "remove it, or look at what denies or allows more",
		})
	}
	return e.warnings
}

// entries collects what permission entries do on the inbounds of a mesh.
type entries struct {
	counts   map[permission.Place]bool // false: met, and changed nothing yet
	order    []permission.Place        // as met
	seen     map[inboundOf]bool
	warnings []strict.Diagnostic
}

// inboundOf is what the permissions of an inbound depend on; dataplanes share
// configs.
type inboundOf struct {
	config   *rules.Config
	inbound  int
	protocol permission.Protocol
}

func (e *entries) inbound(config *rules.Config, d *resource.Dataplane, i int) {
	key := inboundOf{config, i, permission.ProtocolOf(&d.Inbounds[i])}
	if e.seen[key] {
		return
	}
	e.seen[key] = true
	list, warnings := permission.NewDecisionList(key.protocol, permission.RulesOf(config.Inbounds[i].Unmerged))
	e.warnings = append(e.warnings, warnings...)
	idle := map[permission.Place]bool{}
	for _, entry := range list.Shadowed() {
		idle[entry.Place] = true
	}
	for _, entry := range list.Entries() {
		if _, met := e.counts[entry.Place]; !met {
			e.order = append(e.order, entry.Place)
		}
		e.counts[entry.Place] = e.counts[entry.Place] || !idle[entry.Place]
	}
}
