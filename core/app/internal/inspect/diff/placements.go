package diff

import (
	"cmp"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/placement"
)

// Placement is an OCM policy whose action on a cluster changes (SPEC 10).
type Placement struct {
	Policy  string   `json:"policy"` // NAMESPACE/NAME
	Cluster string   `json:"cluster"`
	Before  string   `json:"before"` // enforce, inform or [NotPlaced]
	After   string   `json:"after"`
	Because []string `json:"because"` // the bindings of After or, if it is not placed, of Before
}

// NotPlaced is the action of a policy on a cluster where it is not placed.
const NotPlaced = "absent"

// NewPlacements returns the OCM policies whose action on a cluster differs between two views,
// sorted by policy and cluster.
func NewPlacements(before, after *core.View) []Placement {
	type place struct{ policy, cluster string }
	changes := map[place]*Placement{}
	visit := func(view *core.View, set func(*Placement, *placement.PlacedTarget)) {
		for _, p := range placement.New(view, "").Policies {
			for i := range p.Targets {
				t := &p.Targets[i]
				at := place{strings.TrimPrefix(p.Namespace+"/"+p.Name, "/"), t.Cluster}
				if changes[at] == nil {
					changes[at] = &Placement{Policy: at.policy, Cluster: at.cluster, Before: NotPlaced, After: NotPlaced}
				}
				set(changes[at], t)
			}
		}
	}
	visit(before, func(c *Placement, t *placement.PlacedTarget) { c.Before, c.Because = t.Action, t.Because })
	visit(after, func(c *Placement, t *placement.PlacedTarget) { c.After, c.Because = t.Action, t.Because })
	var list []Placement
	for _, c := range changes {
		if c.Before != c.After {
			list = append(list, *c)
		}
	}
	slices.SortFunc(list, func(a, b Placement) int {
		return cmp.Or(strings.Compare(a.Policy, b.Policy), strings.Compare(a.Cluster, b.Cluster))
	})
	return list
}
