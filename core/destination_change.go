package core

import (
	"cmp"

	"github.com/meshmatch/meshmatch/core/internal/mesh"
	"github.com/meshmatch/meshmatch/core/internal/sorted"
	"github.com/meshmatch/meshmatch/core/resource"
)

// DestinationChange is what changed for a destination (SPEC 17.3). Many dataplanes have
// outbounds to it.
type DestinationChange struct {
	Mesh string
	// Destination is the identity of the MeshService, MeshExternalService or
	// MeshMultiZoneService. The zero identity means all destinations of the mesh: `to`
	// items of kind Mesh changed.
	Destination resource.ID
	Action      Action
	// OwnResource reports that the destination's own resource was added, removed or
	// changed, such as its ports and addresses.
	OwnResource bool
	// Policies are the changed policies with `to` items for the destination, or for a
	// route of it, in either view, sorted. Added and removed policies are changed ones.
	// The confs of outbounds to the destination may differ on the dataplanes that these
	// policies select; see Dataplanes. The list is empty if the mesh is missing in one
	// of the views.
	Policies []resource.ID
	// Endpoints are the dataplanes that were added, removed or changed and that the
	// MeshService selects in either view, sorted.
	Endpoints []resource.ID
	// Zones are the changed resources that decide how clients reach the destination, sorted
	// (SPEC 17.4):
	//
	//   - addresses and zone proxies of its zone, and egresses
	//   - the Secrets of an external service
	//   - the MeshIdentities or the Mesh, if the mesh gets its first identity or loses its
	//     last one
	//
	// A change may have no effect on clients of some zones. Added and removed resources are
	// changed ones.
	Zones []resource.ID

	before, after *mesh.State // nil: a view lacks the mesh
}

// Dataplanes returns the clients whose conf for the destination changed in content or
// origins, sorted by identity. They are in their new versions. Policies that only inform are
// ignored. If the zero identity means all destinations, these are the clients of any. The
// list is empty if the mesh is missing in one of the views. The cost is proportional to the
// mesh.
func (c *DestinationChange) Dataplanes() []*resource.Dataplane {
	if c.before == nil || c.after == nil {
		return nil
	}
	return mesh.ChangedClients(c.before, c.after, c.Destination)
}

// CompareDestinations returns what changed for destinations from one view to another, sorted by mesh and identity. The
// result depends on the content of the views alone. [Compare] reports only changes of policies, with the dataplanes. This
// function examines no dataplane, so its cost is proportional to the difference and to the number of destinations.
func CompareDestinations(before, after *View) []DestinationChange {
	var changes []DestinationChange
	globals := mesh.EditedObjects(before.objects(), after.objects())
	for a, b := range sorted.Join(before.states(), after.states(), meshByName) {
		if a == b && len(globals) == 0 {
			continue
		}
		for _, d := range mesh.CompareDestinations(a, b, globals) {
			changes = append(changes, DestinationChange{
				Mesh: cmp.Or(a, b).Name(), Destination: d.Destination, Action: actionOf(d.Joined, d.Left),
				OwnResource: d.OwnResource, Policies: d.Policies, Endpoints: d.Endpoints, Zones: d.Zones,
				before: a, after: b,
			})
		}
	}
	return changes
}
