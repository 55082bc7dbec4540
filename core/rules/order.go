package rules

import (
	"errors"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/resource"
)

// Order compares two policies of one kind and mesh: it is negative if b
// overrides a. It must be a strict total order over policies with different
// identities; rulestest.CheckTotal checks this.
type Order func(a, b *resource.Policy) int

// Sort sorts policies by kind, and within a kind by the order.
//
// Resources are usually sorted by identity already. Sort first groups the policies
// by level and preserves the given order within a level. If that order agrees with
// o, the final sort needs about one comparison per policy.
func (o Order) Sort(policies []*resource.Policy) {
	const levels = 2*int(resource.TargetMeshTCPRoute) + 2
	given := slices.Clone(policies)
	for from, to := 0, 0; from < len(given); from = to {
		var places [levels]int // of the next policy of each level; first the number of its policies
		for ; to < len(given) && given[to].Kind == given[from].Kind; to++ {
			places[level(&given[to].TargetRef)]++
		}
		place := from
		for l, n := range places {
			places[l] = place
			place += n
		}
		for _, p := range given[from:to] {
			l := level(&p.TargetRef)
			policies[places[l]] = p
			places[l]++
		}
	}
	slices.SortFunc(policies, o.CompareKinds)
}

// CompareKinds compares policies by kind, and policies of one kind by the
// order.
func (o Order) CompareKinds(a, b *resource.Policy) int {
	if c := strings.Compare(a.Kind, b.Kind); c != 0 {
		return c
	}
	return o(a, b)
}

// DefaultOrder is the order of SPEC 3: by level, then by name ascending, then
// by namespace. The later policy overrides.
func DefaultOrder(a, b *resource.Policy) int {
	if c := level(&a.TargetRef) - level(&b.TargetRef); c != 0 {
		return c
	}
	if c := strings.Compare(a.Name, b.Name); c != 0 {
		return c
	}
	return strings.Compare(a.Namespace, b.Namespace)
}

// level returns the level of a top-level targetRef. The constants of the
// targetRef kinds are in the order of the levels; a Dataplane with a sectionName
// follows the whole Dataplane, and all routes are one level.
func level(t *resource.TargetRef) int {
	switch {
	case t.Kind.IsRoute():
		return 2 * int(resource.TargetMeshGatewayRoute)
	case t.Kind == resource.TargetDataplane && t.SectionName != "":
		return 2*int(resource.TargetDataplane) + 1
	}
	return 2 * int(t.Kind)
}

// ErrNoOrder indicates that an [Order] is not strict and total over the
// policies: neither of two policies overrides the other.
var ErrNoOrder = errors.New("the order of policies is not strict and total")
