package requests

import (
	"slices"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
)

// IsClassic reports whether a dataplane has the TLS and the identities that Kuma 2 gives it by
// the `mtls` of its Mesh: no MeshIdentity selects it, and a backend is enabled (SPEC 17.1).
func IsClassic(view *core.View, d *resource.Dataplane) bool {
	mesh := view.Mesh(d.Mesh)
	if view.Semantics() != semantics.Kuma || mesh == nil || mesh.Spec.MTLS.Enabled() == nil {
		return false
	}
	id, err := view.Identities(d.Mesh).IdentityOf(d)
	return id == nil && err == nil
}

// IDsOf returns the SPIFFE IDs that a dataplane has as a client: the one of its MeshIdentity
// or, by the `mtls` of its Mesh, one for each of its services, sorted. The error is the one of
// the MeshIdentity.
func IDsOf(view *core.View, d *resource.Dataplane) ([]string, error) {
	id, err := view.Identities(d.Mesh).IdentityOf(d)
	switch {
	case err != nil:
		return nil, err
	case id != nil:
		return []string{id.SPIFFEID}, nil
	case !IsClassic(view, d):
		return nil, nil
	}
	var ids []string
	add := func(tags resource.Tags) {
		if service := tags.Value(resource.ServiceTag); service != "" {
			ids = append(ids, "spiffe://"+d.Mesh+"/"+service)
		}
	}
	if d.Gateway != nil {
		add(d.Gateway.Tags)
	}
	for i := range d.Inbounds {
		add(d.Inbounds[i].Tags)
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}
