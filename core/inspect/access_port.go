package inspect

import (
	"cmp"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
)

// FindPort returns the index of the inbound that serves connections to a port of a
// dataplane: the inbound at the port, or else the first inbound whose workload has the
// port. It returns false if no inbound does (SPEC 11.5, MeshPassthrough). The error is
// [ErrNotFound] if the proxy never receives connections to the port.
func FindPort(d *resource.Dataplane, port uint32) (inbound int, declared bool, err error) {
	for i := range d.Inbounds {
		if d.Inbounds[i].Port == port {
			return i, true, nil
		}
	}
	if d.TransparentProxy == nil || d.TransparentProxy.RedirectPortInbound == 0 {
		return 0, false, notFoundf("%s has no inbound with port %d, and without transparentProxying its proxy sees no other connection", d.Name, port)
	}
	for i := range d.Inbounds {
		if cmp.Or(d.Inbounds[i].ServicePort, d.Inbounds[i].Port) == port {
			return i, true, nil
		}
	}
	return 0, false, nil
}

// NewUndeclaredAccess returns the answer for connections to a port that no inbound
// declares. No policy decides them.
func NewUndeclaredAccess(view *core.View, d *resource.Dataplane, options Options) (*Access, error) {
	id, err := view.Identities(d.Mesh).Of(d)
	if err != nil {
		return nil, err
	}
	config, applied := permissionConfig(view, d), view.PermissionsApply(d)
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
