package core

import (
	"github.com/meshmatch/meshmatch/core/internal/mesh"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// Scope selects the policies that take part in an answer; the zero Scope is
// Enforced.
type Scope = rules.Scope

// The scopes; see [rules.Scope].
const (
	Enforced = rules.Enforced // the policies that are enforced
	Shadow   = rules.Shadow   // all policies, as if all were enforced
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

// Change is a set of dataplanes of one mesh to which the same happened for the
// same reasons. It is immutable.
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
	// Bindings are the placement bindings that caused a policy with the shadow label
	// to be enforced on the dataplanes, or no longer to be, sorted (SPEC 8.5). The list is empty if the mesh is missing in one of the views.
	Bindings []resource.ID
	// Places are the places where the effective confs have different content or
	// different origins. It is empty if only the dataplane's resource, such as its
	// address, its shadow confs, or those of Destinations changed.
	Places []rules.Place
	// Shadow contains the same for the shadow confs (SPEC 8.3). It is equal to
	// Places unless a policy that only informs selects the dataplanes.
	Shadow []rules.Place
	// Destinations reports that other policies with `to` items select the dataplanes, in one
	// of the scopes, and that one of them can have outbounds to destinations: the confs of
	// these, which are in no place, may differ. [CompareDestinations] names the destinations.
	Destinations bool

	difference mesh.Difference // contains the same, and the dataplanes
}

func newChange(in string, d mesh.Difference) Change {
	c := Change{
		Mesh: in, Action: Changed, OwnResource: d.OwnResource,
		Policies: d.Policies, Bindings: d.Bindings, Places: d.Places, Shadow: d.Shadow, Destinations: d.Destinations,
		difference: d,
	}
	switch {
	case d.Joined():
		c.Action = Joined
	case d.Left():
		c.Action = Left
	}
	return c
}

// Len returns the number of dataplanes; it is at least one.
func (c *Change) Len() int { return c.difference.Len() }

// Dataplanes returns the dataplanes, sorted by identity: as they were for
// [Left], otherwise as they are.
func (c *Change) Dataplanes() []*resource.Dataplane { return c.difference.Dataplanes() }

// Before returns the configs that the dataplanes had, as [View.Configs] does.
func (c *Change) Before(scope Scope) []*rules.Config { return c.difference.Before(scope) }

// After returns the configs that the dataplanes have.
func (c *Change) After(scope Scope) []*rules.Config { return c.difference.After(scope) }
