package inspect

import (
	"fmt"
	"strings"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
)

// closedInbounds warns of inbounds that deny every request, one warning for
// those that no permission selects and one for those with the same permissions
// (SPEC 7.3).
func (m *meshCheck) closedInbounds() []diag.Diagnostic {
	var causes []*closedCause
	known := map[string]*closedCause{}         // by the policies
	closed := map[permissionsOf]*closedCause{} // nil: it allows some request
	for _, d := range m.dataplanes {
		config := permissionsIn(m.view.Configs(d, core.Enforced))
		for i := range d.Inbounds {
			key := newPermissionsOf(config, d, i)
			cause, examined := closed[key]
			if !examined {
				if permissions := permission.ForInbound(config, d, i); !allowsAny(permissions) {
					names := permittingPolicies(key)
					if cause = known[names]; cause == nil {
						cause = &closedCause{policies: names, dataplane: d, inbound: i, rules: permissions.Rules != nil}
						known[names], causes = cause, append(causes, cause)
					}
				}
				closed[key] = cause
			}
			if cause != nil {
				cause.inbounds = append(cause.inbounds, qualifiedName(&d.Meta)+" "+uniqueInboundName(d, i))
			}
		}
	}
	var warnings []diag.Diagnostic
	for _, cause := range causes {
		warnings = append(warnings, cause.warning())
	}
	return warnings
}

// permittingPolicies returns the names of the policies that select an inbound.
func permittingPolicies(p permissionsOf) string {
	var names []string
	if p.config != nil {
		for _, matched := range p.config.Matched.All() {
			if matched.Inbounds.Has(p.inbound) {
				names = append(names, qualifiedName(&matched.Policy.Meta))
			}
		}
	}
	return strings.Join(names, ", ")
}

// closedCause is why inbounds deny every request.
type closedCause struct {
	policies  string // that select the inbounds
	rules     bool   // they have rules, and no `from` has an effect
	dataplane *resource.Dataplane
	inbound   int // of the dataplane, the first of the inbounds
	inbounds  []string
}

// openAll is the part of a policy that allows every client (SPEC 7.3).
const openAll = `"from: [{targetRef: {kind: Mesh}, default: {action: Allow}}]"`

func (c *closedCause) warning() diag.Diagnostic {
	const shown = 5
	names := strings.Join(c.inbounds[:min(shown, len(c.inbounds))], ", ")
	if more := len(c.inbounds) - shown; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	w := diag.Diagnostic{Pos: c.dataplane.Pos, Path: fmt.Sprintf("networking.inbound[%d]", c.inbound)}
	switch {
	case c.policies == "":
		w.What = "every request is denied, as no MeshTrafficPermission selects the inbound: " + names
		w.Hint = "to allow every client, write in the spec of a MeshTrafficPermission " + openAll
	case c.rules:
		w.What = fmt.Sprintf("every request is denied, as the policies that select the inbound (%s) allow none: %s", c.policies, names)
		w.Hint = "add a rule with an allow entry"
	default:
		w.What = fmt.Sprintf("every request is denied, as the policies that select the inbound (%s) allow none: %s", c.policies, names)
		w.Hint = "to allow every client, write " + openAll
	}
	return w
}
