package diff

import (
	"cmp"
	"slices"
	"strings"
)

// Placement is an OCM policy whose action on a cluster changes, or whose content there (SPEC 10).
type Placement struct {
	Policy  string   `json:"policy"` // NAMESPACE/NAME
	Cluster string   `json:"cluster"`
	Before  string   `json:"before"` // enforce, inform or [NotPlaced]
	After   string   `json:"after"`
	Because []string `json:"because"` // the bindings of After or, if it is not placed, of Before
	// Content reports whether the policy is placed on both sides, with other templates.
	Content bool `json:"content,omitempty"`
}

// NotPlaced is the action of a policy on a cluster where it is not placed.
const NotPlaced = "absent"

// A PolicyOnCluster is an OCM policy, as NAMESPACE/NAME, and a cluster.
type PolicyOnCluster struct{ Policy, Cluster string }

// Placed is the action of a policy on a cluster, the bindings that cause it, and the content of the
// policy.
type Placed struct {
	Action  string
	Because []string
	Content string
}

// NewPlacements returns the OCM policies whose action or content on a cluster differs, sorted by
// policy and cluster.
func NewPlacements(before, after map[PolicyOnCluster]Placed) []Placement {
	changes := map[PolicyOnCluster]*Placement{}
	visit := func(all map[PolicyOnCluster]Placed, set func(*Placement, Placed)) {
		for at, placed := range all {
			if changes[at] == nil {
				changes[at] = &Placement{Policy: at.Policy, Cluster: at.Cluster, Before: NotPlaced, After: NotPlaced}
			}
			set(changes[at], placed)
		}
	}
	visit(before, func(c *Placement, p Placed) { c.Before, c.Because = p.Action, p.Because })
	visit(after, func(c *Placement, p Placed) { c.After, c.Because = p.Action, p.Because })
	var list []Placement
	for at, c := range changes {
		c.Content = c.Before != NotPlaced && c.After != NotPlaced && before[at].Content != after[at].Content
		if c.Before != c.After || c.Content {
			list = append(list, *c)
		}
	}
	slices.SortFunc(list, func(a, b Placement) int {
		return cmp.Or(strings.Compare(a.Policy, b.Policy), strings.Compare(a.Cluster, b.Cluster))
	})
	return list
}
