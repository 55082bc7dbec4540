package check

import (
	"fmt"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/internal/requests"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/access"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/resource"
)

// differingInbounds warns, once for each service, if inbounds of the service decide
// some request differently. It does not compare inbounds of different protocols,
// which receive different requests, nor inbounds without the tag of a service.
func (m *meshCheck) differingInbounds() {
	type group struct {
		service  string
		protocol request.Protocol
	}
	first := map[group]*inboundPermissions{}
	lists := map[requests.Inputs]permissions{}
	equal := map[[2]string]bool{}
	reported := map[string]bool{}
	for _, d := range m.dataplanes {
		applied := m.view.PermissionsApply(d)
		config := requests.ConfigIn(m.view.Configs(d, core.Enforced))
		for i := range d.Inbounds {
			if d.Inbounds[i].Tags.Value(resource.ServiceTag) == "" || !d.IsListener(i) {
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
				first[of] = &inboundPermissions{known, d, i}
				continue
			}
			pair := [2]string{one.text, known.text}
			if reported[of.service] || pair[0] == pair[1] || equal[pair] {
				continue
			}
			what := m.difference(key.Protocol, one, &inboundPermissions{known, d, i})
			if what == "" {
				equal[pair] = true
				continue
			}
			reported[of.service] = true
			m.warn(diag.Diagnostic{
				Code: diag.InboundsDiffer, Pos: d.Pos, Path: fmt.Sprintf("networking.inbound[%d]", i),
				What: fmt.Sprintf("the service %s has inbounds with different permissions: %s", of.service, what),
				Hint: "select all inbounds of the service by the same policies, or give them services of their own",
			})
		}
	}
}

// permissions are the permissions of an inbound.
type permissions struct {
	list *access.List
	text string // equal for equal lists
}

type inboundPermissions struct {
	permissions
	dataplane *resource.Dataplane
	inbound   int
}

// difference describes some requests about which two inbounds decide differently. It returns
// "" if there are none, or if the search for them exceeds a limit.
func (m *meshCheck) difference(protocol request.Protocol, a, b *inboundPermissions) string {
	differences, err := access.Compare(&access.Space{Protocol: protocol}, a.list, b.list, m.accessLimits)
	if err != nil || len(differences) == 0 {
		return ""
	}
	condition := "some requests"
	if c, err := access.ConditionOf(a.list, b.list, &differences[0]); err == nil {
		condition = c.String()
	}
	return fmt.Sprintf("%s decides %s and %s decides %s about %s",
		inboundOf(a.dataplane, a.inbound), differences[0].Before, inboundOf(b.dataplane, b.inbound), differences[0].After, diag.Clip(condition, 200))
}
