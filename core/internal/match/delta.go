package match

import (
	"github.com/meshmatch/meshmatch/core/internal/enforce"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/index"
)

// Delta describes what an edit of an [Index] reaches. [DataplaneIndex.Reached]
// returns the dataplanes that may change their class; [Classes.Reached] returns
// the classes whose selection may change.
type Delta struct {
	// facts are the facts that selectors began or ceased to require.
	facts []fact
	// regions contain the dataplanes that entered or left a placement of an override.
	regions []enforce.Region
	// selectors are the selectors of the policies that were added, removed or replaced,
	// and of the routes to which such policies are attached.
	selectors [][]index.Term
	// replaced maps each policy that was replaced by a version with other confs
	// to that version.
	replaced map[*resource.Policy]*resource.Policy
	// moved reports whether anything except confs changed.
	moved bool
	// policies reports whether a policy was added, removed or replaced.
	policies bool
}

// SamePolicies reports whether no policy changed. If so, classes with the same
// dataplanes have the same selection in scope Shadow. In scope Enforced they have the
// same one unless a placement changed.
func (d *Delta) SamePolicies() bool { return !d.policies }

// Replaced returns the new versions of the replaced policies, by old version, if
// nothing except confs changed. The new selection of a class is then the previous one
// with each old version replaced. Otherwise, and always if a route changed, it returns
// nil.
func (d *Delta) Replaced() map[*resource.Policy]*resource.Policy {
	if d.moved {
		return nil
	}
	return d.replaced
}
