package destination

import (
	"fmt"
	"slices"

	"github.com/meshmatch/meshmatch/core/resource"
)

// Check compares the items of each kind with items that are made from the policies alone.
// Tests call it after each change.
func (x *Index) Check(kinds *resource.Kinds) error {
	for _, kind := range kinds.Names() {
		kind := kinds.Lookup(kind)
		if kind.To == nil {
			continue
		}
		k, want := x.itemsOf(kind), x.newKindItems(kind)
		if k.size != want.size || k.attached != want.attached {
			return fmt.Errorf("%s: %d policies with items, %d attached to routes; want %d and %d", kind.Name, k.size, k.attached, want.size, want.attached)
		}
		if !slices.EqualFunc(k.everywhere, want.everywhere, equalItem) {
			return fmt.Errorf("%s: other items for all destinations than of the policies", kind.Name)
		}
		for p := range x.policies.All() {
			if p.IsRoute() && !slices.EqualFunc(k.referringTo(p), want.referringTo(p), equalItem) {
				return fmt.Errorf("%s: other items for %s than of the policies", kind.Name, p.ID)
			}
		}
		for _, d := range x.set.all {
			if !slices.EqualFunc(k.selecting(d), want.selecting(d), func(a, b placedItem) bool { return a.section == b.section && equalItem(a.item, b.item) }) {
				return fmt.Errorf("%s: other items for %s than of the policies", kind.Name, d.Identity().ID)
			}
		}
	}
	return nil
}

func equalItem(a, b *item) bool { return a.Origin == b.Origin && a.slot == b.slot }
