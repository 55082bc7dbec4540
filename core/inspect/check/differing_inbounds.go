package check

import (
	"fmt"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/access"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/inspect/internal/requests"
	"github.com/meshmatch/meshmatch/core/request"
	"github.com/meshmatch/meshmatch/core/resource"
)

// differingInbounds warns, once for each service, if inbounds of the service decide
// some request differently. It does not compare inbounds of different protocols,
// which receive different requests, nor inbounds without the tag of a service.
func (m *meshCheck) differingInbounds() []diag.Diagnostic {
	type group struct {
		service  string
		protocol request.Protocol
	}
	type permissions struct {
		list *access.List
		text string // equal for equal lists
	}
	type member struct {
		permissions
		dataplane *resource.Dataplane
		inbound   int
	}
	first := map[group]*member{}
	lists := map[requests.Inputs]permissions{}
	equal := map[[2]string]bool{}
	reported := map[string]bool{}
	var warnings []diag.Diagnostic
	for _, d := range m.dataplanes {
		applied := m.view.PermissionsApply(d)
		config := requests.ConfigIn(m.view.Configs(d, core.Enforced))
		for i := range d.Inbounds {
			if d.Inbounds[i].Tags.Value(resource.ServiceTag) == "" {
				continue
			}
			key := requests.InputsOf(config, d, i, !applied)
			known, is := lists[key]
			if !is {
				known.list = access.ListOf(requests.PermissionsOf(config, d, i, applied))
				known.text = known.list.Key()
				lists[key] = known
			}
			of := group{d.Inbounds[i].Tags.Value(resource.ServiceTag), key.Protocol}
			one := first[of]
			if one == nil {
				first[of] = &member{known, d, i}
				continue
			}
			pair := [2]string{one.text, known.text}
			if reported[of.service] || pair[0] == pair[1] || equal[pair] {
				continue
			}
			differences, err := access.Compare(&access.Space{Protocol: key.Protocol}, one.list, known.list, m.accessLimits)
			if err != nil || len(differences) == 0 { // beyond the limit, the result is unknown
				equal[pair] = true
				continue
			}
			reported[of.service] = true
			condition := "some requests"
			if c, err := access.ConditionOf(one.list, known.list, &differences[0]); err == nil {
				condition = c.String()
			}
			warnings = append(warnings, diag.Diagnostic{
				Code: diag.InboundsDiffer, Pos: d.Pos, Path: fmt.Sprintf("networking.inbound[%d]", i),
				What: fmt.Sprintf("the service %s has inbounds with different permissions: %s decides %s and %s decides %s about %s",
					of.service, inboundOf(one.dataplane, one.inbound), differences[0].Before, inboundOf(d, i), differences[0].After, diag.Clip(condition, 200)),
				Hint: "select all inbounds of the service by the same policies, or give them services of their own",
			})
		}
	}
	return warnings
}
