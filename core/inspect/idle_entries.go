package inspect

import (
	"fmt"

	"github.com/meshmatch/meshmatch/core/access"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
)

// idleEntries warns of permission entries that an inbound cannot match in full
// (SPEC 7.5), and of entries that change nothing on any inbound.
func (m *meshCheck) idleEntries() []diag.Diagnostic {
	e := entries{effective: map[permission.Place]bool{}, seen: map[permissionsOf]bool{}, limits: m.accessLimits}
	for _, d := range m.dataplanes {
		for _, shadow := range []bool{false, true} { // an effect in either is an effect
			config := permissionsIn(m.view.Configs(d, ScopeOf(shadow)))
			if config == nil {
				continue
			}
			for i := range config.Inbounds {
				e.inbound(newPermissionsOf(config, d, i, false), d)
			}
		}
	}
	for _, place := range e.order {
		if e.effective[place] {
			continue
		}
		e.warnings = append(e.warnings, diag.Diagnostic{
			Code: diag.NeverDecides,
			Pos:  place.Policy.Rules[place.Rule].Pos,
			Path: fmt.Sprintf("spec.rules[%d].default.%s[%d]", place.Rule, place.List, place.Index),
			What: "changes nothing: another entry decides about every request that it matches",
			Hint: "remove it, or check the entries that deny or allow more",
		})
	}
	if e.unknown > 0 {
		e.warnings = append(e.warnings, diag.Diagnostic{
			Code: diag.UnknownAccess, Pos: e.first.Pos, Path: "networking.inbound",
			What: fmt.Sprintf("it is unknown whether entries for %s, one of them of %s, change nothing: they divide the requests into more parts than the limit allows", diag.Count(e.unknown, "inbound"), e.first.Name),
			Hint: "use fewer regular expressions on one header or path",
		})
	}
	return e.warnings
}

// entries collects the effects of permission entries on the inbounds of a mesh.
type entries struct {
	effective map[permission.Place]bool // false: not effective on any inbound so far
	order     []permission.Place        // the keys of effective, in the order in which they were added
	seen      map[permissionsOf]bool
	limits    access.Limits
	unknown   int                 // inbounds past a limit
	first     *resource.Dataplane // of such an inbound
	warnings  []diag.Diagnostic
}

func (e *entries) inbound(p permissionsOf, d *resource.Dataplane) {
	if e.seen[p] {
		return
	}
	e.seen[p] = true
	list, warnings := permission.NewDecisionList(p.protocol, permission.RulesOf(p.config.Inbounds[p.inbound].Unmerged))
	e.warnings = append(e.warnings, warnings...)
	decides := deciding(&permission.Permissions{Protocol: p.protocol, Rules: list}, e.limits)
	if decides == nil {
		if e.unknown++; e.first == nil {
			e.first = d
		}
	}
	for _, entry := range list.Entries() {
		if _, known := e.effective[entry.Place]; !known {
			e.order = append(e.order, entry.Place)
		}
		e.effective[entry.Place] = e.effective[entry.Place] || decides == nil || decides[entry.Place]
	}
}

// deciding returns the entries that decide any request, or any request of the shadow
// decision; nil if this is unknown.
func deciding(p *permission.Permissions, limits access.Limits) map[permission.Place]bool {
	decides := map[permission.Place]bool{}
	lists := []*access.List{access.ListOf(p)}
	if p.Rules != nil && p.Rules.HasShadow() || p.Clients != nil && p.Clients.HasShadow() {
		lists = append(lists, access.ShadowListOf(p))
	}
	for _, list := range lists {
		regions, err := access.Regions(&access.Space{Protocol: p.Protocol}, list, nil, limits)
		if err != nil {
			return nil
		}
		for _, region := range regions {
			if region.By != nil {
				decides[*region.By] = true
			}
		}
	}
	return decides
}
