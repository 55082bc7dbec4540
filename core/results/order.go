package results

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/resource"
)

// Order compares two policies of one kind and mesh: it is negative if b
// overrides a. It must be a strict total order over policies with different
// identities; rulestest.CheckTotal checks this.
type Order func(a, b *resource.Policy) int

// Sorted returns the positions of policies in a list, sorted by kind, and within a kind by
// the order. If two policies compare equal, the error is an [ErrNoOrder] that names them. A
// list that is sorted needs one comparison for each policy but the first.
func (o Order) Sorted(policies []*resource.Policy) (positions []uint32, err error) {
	positions = make([]uint32, len(policies))
	for i := range positions {
		positions[i] = uint32(i)
	}
	strict := func() (tied int, ok bool) {
		for i := 1; i < len(positions); i++ {
			if o.CompareKinds(policies[positions[i-1]], policies[positions[i]]) >= 0 {
				return i, false
			}
		}
		return 0, true
	}
	if _, ok := strict(); ok {
		return positions, nil
	}
	slices.SortFunc(positions, func(a, b uint32) int { return o.CompareKinds(policies[a], policies[b]) })
	if i, ok := strict(); !ok {
		return nil, NoOrder(policies[positions[i-1]], policies[positions[i]])
	}
	return positions, nil
}

// ByLevel returns policies with consecutive ones of one kind grouped by level, in the given
// order within a level. Resources are usually sorted by identity already; then the result
// is sorted by [DefaultOrder], without a comparison.
func ByLevel(policies []*resource.Policy) []*resource.Policy {
	grouped := make([]*resource.Policy, len(policies))
	levels := make([]uint8, len(policies)) // so that each policy is read once
	for from, to := 0, 0; from < len(policies); from = to {
		var places [numLevels]int // of the next policy of each level; first the number of its policies
		for kind := policies[from].Kind; to < len(policies) && policies[to].Kind == kind; to++ {
			levels[to] = uint8(level(&policies[to].TargetRef))
			places[levels[to]]++
		}
		place := from
		for l, n := range places {
			places[l] = place
			place += n
		}
		for i, l := range levels[from:to] {
			grouped[places[l]] = policies[from+i]
			places[l]++
		}
	}
	return grouped
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
		return 2 * int(resource.TargetMeshHTTPRoute)
	case t.Kind == resource.TargetDataplane && t.SectionName != "":
		return 2*int(resource.TargetDataplane) + 1
	}
	return 2 * int(t.Kind)
}

const numLevels = 2*int(resource.TargetMeshTCPRoute) + 2

// ErrNoOrder indicates that an [Order] is not strict and total over the
// policies: neither of two policies overrides the other.
var ErrNoOrder = errors.New("the order of policies is not strict and total")

// NoOrder returns the [ErrNoOrder] of two policies that compare equal.
func NoOrder(a, b *resource.Policy) error {
	return fmt.Errorf("%w: neither of %s and %s overrides the other", ErrNoOrder, a.ID, b.ID)
}
