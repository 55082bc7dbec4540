package match

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/meshmatch/meshmatch/core/resource"
)

// Order compares two policies of one kind and mesh: negative where a is
// overridden by b. It must be a strict total order over policies with
// different identities; [CheckTotal] tells.
type Order func(a, b *resource.Policy) int

// DefaultOrder is SPEC 3: by level, then by name ascending, then by
// namespace; the later one overrides.
func DefaultOrder(a, b *resource.Policy) int {
	return cmp.Or(
		cmp.Compare(level(&a.TargetRef), level(&b.TargetRef)),
		strings.Compare(a.Name, b.Name),
		strings.Compare(a.Namespace, b.Namespace),
	)
}

// level ranks what a policy is attached to. The kinds' constants stand in
// order; a Dataplane's inbound comes behind the whole Dataplane, and all
// routes are one level.
func level(t *resource.TargetRef) int {
	switch {
	case t.Kind.IsRoute():
		return 2 * int(resource.TargetMeshGatewayRoute)
	case t.Kind == resource.TargetDataplane && t.SectionName != "":
		return 2*int(resource.TargetDataplane) + 1
	}
	return 2 * int(t.Kind)
}

// CheckTotal returns an error that names policies for which order is no
// strict total order: two different ones that compare equal, a pair that
// compares differently when swapped, or three in a cycle. It looks at every
// triple, so it is for tests of an embedder's own order.
func CheckTotal(order Order, policies []*resource.Policy) error {
	for _, a := range policies {
		for _, b := range policies {
			ab, ba := order(a, b), order(b, a)
			switch {
			case a.ID == b.ID && ab != 0:
				return fmt.Errorf("%s does not equal itself", describe(a.ID))
			case a.ID != b.ID && ab == 0:
				return fmt.Errorf("%s and %s are in no order", describe(a.ID), describe(b.ID))
			case sign(ab) != -sign(ba):
				return fmt.Errorf("%s and %s compare differently when swapped", describe(a.ID), describe(b.ID))
			}
			for _, c := range policies {
				if ab < 0 && order(b, c) < 0 && order(a, c) >= 0 {
					return fmt.Errorf("%s, %s and %s are in a cycle", describe(a.ID), describe(b.ID), describe(c.ID))
				}
			}
		}
	}
	return nil
}

func sign(n int) int { return cmp.Compare(n, 0) }
