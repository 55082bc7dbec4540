package match

import "github.com/meshmatch/meshmatch/index"

// Delta is what a change of policies reaches: [Population.Reached] tells the
// dataplanes that change class, [Classes.Reached] the classes that are
// selected by others than before, or by other versions.
type Delta struct {
	// terms that selectors began or ceased to require
	terms []term
	// selectors of the policies that came, went or changed, and those of the
	// routes that such policies are attached to
	selectors [][]index.Term
}

// Empty reports whether nothing changed.
func (d *Delta) Empty() bool { return len(d.terms)+len(d.selectors) == 0 }
