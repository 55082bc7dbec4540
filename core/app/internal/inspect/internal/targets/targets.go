package targets

import (
	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/enforce"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/resource"
)

// TargetOn returns the action of a policy on a dataplane that it selects. A policy that is
// attached to a route informs if the route does.
func TargetOn(view *core.View, d *resource.Dataplane, p *resource.Policy) enforce.Target {
	target := view.Enforcement().MeshTarget(p, d)
	if target.Action == ocm.Enforce && p.TargetRef.Kind.IsRoute() && !Selects(view, d, p, core.Enforced, nil) {
		target.Action = ocm.Inform
	}
	return target
}

// Selects reports whether a policy selects a dataplane in a scope. If inbound is not
// nil, the policy must also select the inbound.
func Selects(view *core.View, d *resource.Dataplane, p *resource.Policy, scope core.Scope, inbound *int) bool {
	config, err := view.Config(d, p.Kind, scope)
	if err != nil {
		return false
	}
	for _, m := range config.Matched.All() {
		if m.Policy.ID == p.ID {
			return inbound == nil || m.Inbounds.Has(*inbound)
		}
	}
	return false
}
