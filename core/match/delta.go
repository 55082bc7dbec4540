package match

import (
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/index"
)

// Delta is what a change of policies reaches: [Population.Reached] tells the
// dataplanes that change class, [Classes.Reached] the classes that are
// selected by others than before, or by other versions.
type Delta struct {
	// terms that selectors began or ceased to require
	terms []term
	// selectors of the policies that came, went or changed, and those of the
	// routes that such policies are attached to
	selectors [][]index.Term
	// replaced is the versions that took the place of others and differ from
	// them in their confs alone
	replaced map[*resource.Policy]*resource.Policy
	// moved tells that something else changed too
	moved bool
}

// Replaced returns, by old version, the policies' new versions, if that is all
// that changed and no policy selects more, less or in another order: then a
// selection is what it was, with the new versions in the place of the old
// ones. Else it returns nil, and always if a route changed: whoever keeps the
// routes of a selection need not look for them.
func (d *Delta) Replaced() map[*resource.Policy]*resource.Policy {
	if d.moved {
		return nil
	}
	return d.replaced
}
