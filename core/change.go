package core

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
	"github.com/meshmatch/meshmatch/index"
)

// Action is what happened to a dataplane.
type Action uint8

// The actions.
const (
	Joined  Action = iota // it was not there
	Left                  // it is not there any more
	Changed               // its resource, or what it gets, is another
)

// String returns the action in lower case.
func (a Action) String() string { return [...]string{"joined", "left", "changed"}[a] }

// Change is dataplanes of one mesh to which the same happened for the same
// reasons. It is immutable.
type Change struct {
	Mesh   string
	Action Action
	// Itself tells that the dataplanes' own resources came, left or say something
	// else.
	Itself bool
	// Policies is the policies that came, left or say something else and select
	// the dataplanes, or did, sorted. They are none where the mesh was not there
	// before, or is not there any more.
	Policies []resource.ID
	// Places is where the effective confs have another content or other
	// origins. They are empty where only the dataplane's resource, such as its
	// address, or its shadow confs changed.
	Places []rules.Place
	// Shadow is the same for the shadow confs (SPEC 8.3), of dataplanes that are
	// selected by a policy which informs only; else it is Places.
	Shadow []rules.Place

	before, after *profile
	view          *meshView // that has the dataplanes: the one before for Left, else the one after
	slots         index.Set
	first         resource.ID // of the dataplanes
}

// Len returns the number of dataplanes; at least one.
func (c *Change) Len() int { return c.slots.Len() }

// Dataplanes returns the dataplanes, sorted by identity: as they were for
// [Left], else as they are.
func (c *Change) Dataplanes() []*resource.Dataplane {
	list := make([]*resource.Dataplane, 0, c.Len())
	for slot := range c.slots.All() {
		list = append(list, c.view.dataplanes.Value(slot).resource)
	}
	slices.SortFunc(list, func(a, b *resource.Dataplane) int { return a.ID.Compare(b.ID) })
	return list
}

// leastID returns the first identity of the dataplanes, which are of one mesh.
// Slots, which depend on how a view came about, are no order to tell of.
func (c *Change) leastID() resource.ID {
	var least *resource.Dataplane
	for slot := range c.slots.All() {
		d := c.view.dataplanes.Get(slot).resource
		if least == nil || d.Namespace < least.Namespace || d.Namespace == least.Namespace && d.Name < least.Name {
			least = d
		}
	}
	return least.ID
}

// Before returns the configs that the dataplanes had, as [View.Configs] does.
func (c *Change) Before(scope Scope) []*rules.Config { return c.before.configs(scope) }

// After returns the configs that the dataplanes have.
func (c *Change) After(scope Scope) []*rules.Config { return c.after.configs(scope) }
