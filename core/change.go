package core

import (
	"github.com/meshmatch/meshmatch/core/internal/mesh"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// Scope selects the policies that take part in an answer; the zero Scope is
// Enforced.
type Scope = results.Scope

// The scopes; see [results.Scope].
const (
	Enforced = results.Enforced // the policies that are enforced
	Shadow   = results.Shadow   // all policies, as if all were enforced
)

// Action is what happened to a dataplane or to a destination.
type Action uint8

// The actions.
const (
	Joined  Action = iota // it was added
	Left                  // it was removed
	Changed               // its resource, its configuration or its endpoints changed
)

// String returns the action in lower case.
func (a Action) String() string { return [...]string{"joined", "left", "changed"}[a] }

// Change is a set of dataplanes of one mesh that changed in the same way for the same
// reasons. It is immutable.
type Change struct {
	Mesh   string
	Action Action
	// OwnResource reports that the dataplanes' own resources were added, removed
	// or changed.
	OwnResource bool
	// Policies are the policies that were added, removed or changed and select
	// the dataplanes, in either view, sorted. The list is empty if the mesh is
	// missing in one of the views.
	Policies []resource.ID
	// Bindings are the placement bindings that began or ceased to enforce a policy with
	// the shadow label on the dataplanes, sorted (SPEC 8.5). The list is empty if the
	// mesh is missing in one of the views.
	Bindings []resource.ID
	// Places are the places where the effective confs have different content or different
	// origins: of outbounds to tags and to destinations alike. It is empty if only the
	// dataplane's resource (such as its address) or its shadow confs changed. Dataplanes that
	// joined or left have no places of outbounds to destinations.
	Places []results.Place
	// Shadow is Places for the shadow confs (SPEC 8.3). It is equal to Places unless a
	// policy that only informs selects the dataplanes.
	Shadow []results.Place

	difference mesh.Difference // contains the same, and the dataplanes
}

func newChange(in string, d mesh.Difference) Change {
	return Change{
		Mesh: in, Action: actionOf(d.Joined(), d.Left()), OwnResource: d.OwnResource,
		Policies: d.Policies, Bindings: d.Bindings, Places: d.Places, Shadow: d.Shadow,
		difference: d,
	}
}

func actionOf(joined, left bool) Action {
	switch {
	case joined:
		return Joined
	case left:
		return Left
	}
	return Changed
}

// Len returns the number of dataplanes; it is at least one.
func (c *Change) Len() int { return c.difference.Len() }

// Dataplanes returns the dataplanes, sorted by identity: in their old version
// for [Left], otherwise in the new one.
func (c *Change) Dataplanes() []*resource.Dataplane { return c.difference.Dataplanes() }

// Before returns the configs that the dataplanes had, as [View.Configs] does.
func (c *Change) Before(scope Scope) []*results.Config { return c.difference.Before(scope) }

// After returns the configs that the dataplanes have.
func (c *Change) After(scope Scope) []*results.Config { return c.difference.After(scope) }
