package match

import (
	"github.com/meshmatch/meshmatch/core/enforce"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/index"
)

// Delta is what an edit of an [Index] reaches: [DataplaneIndex.Reached] returns
// the dataplanes that may change their class, [Classes.Reached] the classes whose
// selection may change.
type Delta struct {
	// terms are the terms that selectors began or ceased to require.
	terms []term
	// regions are those of the dataplanes that entered or left a placement of an override.
	regions []enforce.Region
	// selectors are those of the policies that were added, removed or replaced, and of the
	// routes to which such policies are attached.
	selectors [][]index.Term
	// replaced contains the policies that were replaced by a version with other
	// confs, by old version.
	replaced map[*resource.Policy]*resource.Policy
	// moved reports whether anything except confs changed.
	moved bool
	// policies reports whether a policy was added, removed or replaced.
	policies bool
}

// SamePolicies reports whether no policy changed. If so, classes of the same dataplanes
// have the same selection in scope Shadow, and in scope Enforced unless a placement
// changed.
func (d *Delta) SamePolicies() bool { return !d.policies }

// Replaced returns the new versions of the replaced policies, by old version, if
// nothing except confs changed: the selection of a class is then the previous one, with
// the new versions in the place of the old ones. Otherwise, and always if a
// route changed, it returns nil.
func (d *Delta) Replaced() map[*resource.Policy]*resource.Policy {
	if d.moved {
		return nil
	}
	return d.replaced
}
