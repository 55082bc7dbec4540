package inspect

import (
	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/internal/requests"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
)

// NewUndeclaredAccess returns the answer for connections to a port that no inbound
// declares. No policy decides them.
func NewUndeclaredAccess(view *core.View, d *resource.Dataplane, options Options) (*Access, error) {
	id, err := view.Identities(d.Mesh).IdentityOf(d)
	if err != nil {
		return nil, err
	}
	config, applied := requests.ConfigOf(view, d), view.PermissionsApply(d)
	passes := permission.PassesUndeclared(config, id != nil, applied)
	a := &Access{
		Semantics: view.Semantics(),
		Decision:  Decision{permission.Decision{Allow: passes}.String(), Decider{Default: true}},
		Warnings:  []diag.Diagnostic{},
	}
	if options.Explain {
		reason := "no inbound declares the port, and the dataplane has an identity or a permission policy selects it"
		switch {
		case passes && !applied:
			reason = "no inbound declares the port, and " + permission.OpenReason
		case passes:
			reason = "no inbound declares the port, and the dataplane has no identity and no permission policy"
		}
		a.Explanation = &Explanation{Reason: reason}
	}
	return a, nil
}
