package destination

import (
	"slices"
	"sync/atomic"

	"github.com/meshmatch/meshmatch/core/internal/items"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/index"
)

// kindItems contains the `to` items of one kind. It is immutable, except for the caches of
// its items and the lists that were found.
type kindItems struct {
	set     *Directory
	kind    *resource.Kind
	reading semantics.Reading
	caches  *Caches
	size    int // of the policies with items

	filed      *items.Filed[*item]
	everywhere []*item // those of filed that select every outbound
	attached   int     // the number of policies that are attached to a route and have items

	// found contains the items that select a destination of the set, by its index. Versions
	// share the lists that are equal.
	found index.Vector[*foundItems]

	none *memo // of confs without items
}

// foundItems is a list that the first lookup makes; nil before.
type foundItems struct{ atomic.Pointer[[]placedItem] }

// placedItem is an item that selects a destination. Lists are in order: later items override.
type placedItem struct {
	section string // of the destination; empty: all
	*item
}

// selects reports whether the item selects an outbound, which must be to its destination.
func (it *placedItem) selects(o *Outbound) bool { return it.section == "" || it.section == o.Section }

// item is a `to` item. Another version of its policy has other items.
type item struct {
	semantics.RankedItem
	slot uint32 // of the policy
	memo
}

// newKindItems returns the items of all policies of a kind.
func (x *Index) newKindItems(kind *resource.Kind) *kindItems {
	k := &kindItems{set: x.set, kind: kind, reading: x.policies.Reading(), caches: x.caches, none: &memo{id: x.caches.nextID()}}
	var all []*item
	var slab []item
	for p := range x.policies.All() {
		if p.Kind == kind.Name {
			all = k.appendItems(all, p, x.policies.Slot(p), &slab)
		}
	}
	slices.SortStableFunc(all, k.compare)
	lists := k.found.Edit()
	for at := range x.set.all {
		*lists.Mut(uint32(at)) = new(foundItems)
	}
	k.found = lists.Commit()
	k.file(items.NewFiled[*item]().Edit(k.reading.Semantics, k.compare), all)
	return k
}

// slabItems is the number of items that are allocated together, and freed together.
const slabItems = 16

// appendItems appends the items of a policy that is added. It uses the slab.
func (k *kindItems) appendItems(list []*item, p *resource.Policy, slot uint32, slab *[]item) []*item {
	if len(p.To) == 0 {
		return list
	}
	k.count(p, 1)
	for i := range p.To {
		if ranked, applies := k.reading.Semantics.RankItem(results.Origin{Policy: p, Index: i}); applies {
			if len(*slab) == 0 {
				*slab = make([]item, slabItems)
			}
			it := &(*slab)[0]
			*slab = (*slab)[1:]
			it.RankedItem, it.slot = ranked, slot
			list = append(list, it)
		}
	}
	return list
}

// count adds n to the numbers of policies, for a policy with items.
func (k *kindItems) count(p *resource.Policy, n int) {
	k.size += n
	if _, applies := k.reading.Semantics.RankItem(results.Origin{Policy: p}); applies && p.TargetRef.Kind.IsRoute() {
		k.attached += n
	}
}

func (k *kindItems) compare(a, b *item) int {
	return k.reading.CompareItems(&a.RankedItem, &b.RankedItem)
}

func (it *item) targetRef() *resource.TargetRef { return &it.Policy.To[it.Index].TargetRef }

// file adds items to the lists of an editor, which become the lists of k.
func (k *kindItems) file(lists *items.FiledEditor[*item], added []*item) {
	for _, it := range added {
		it.id = k.caches.nextID()
		lists.Add(it.targetRef(), it)
	}
	k.filed = lists.Commit()
	k.everywhere = k.filed.ItemsFor(items.Everywhere)
}

// kindEdit contains policies of one kind that were removed and added; a policy that was
// replaced is in both.
type kindEdit struct{ removed, added []*resource.Policy }

// after returns the items after an edit, or nil if the edit is so large that they are
// made again at less cost.
func (k *kindItems) after(e *kindEdit, policies Policies) *kindItems {
	if len(e.removed)+len(e.added) > max(64, k.size/4) {
		return nil
	}
	next := new(*k)
	found := k.found.Edit()
	forget := func(p *resource.Policy) {
		for i := range p.To {
			for _, to := range k.set.Find(p, &p.To[i].TargetRef) {
				*found.Mut(uint32(to.at)) = new(foundItems)
			}
		}
	}
	lists := k.filed.Edit(k.reading.Semantics, k.compare)
	for _, p := range e.removed {
		if len(p.To) > 0 {
			next.count(p, -1)
		}
		for i := range p.To {
			lists.Remove(&p.To[i].TargetRef, func(it *item) bool { return it.Policy == p })
		}
		forget(p)
	}
	var added []*item
	for _, p := range e.added {
		slab := make([]item, len(p.To))
		added = next.appendItems(added, p, policies.Slot(p), &slab)
		forget(p)
	}
	next.found = found.Commit()
	next.file(lists, added)
	return next
}

// forSet returns the items of the same policies for the next version of the set.
func (k *kindItems) forSet(set *Directory) *kindItems {
	next := new(*k)
	next.set = set
	var found index.Vector[*foundItems]
	lists := found.Edit()
	for at, d := range set.all {
		list := lists.Mut(uint32(at))
		if was, had := k.set.indexes[d]; had {
			*list = k.found.Value(uint32(was))
		} else {
			*list = new(foundItems)
		}
	}
	next.found = lists.Commit()
	return next
}

// selecting returns the items that select a destination of the set or a section of it.
func (k *kindItems) selecting(d resource.Destination) []placedItem {
	at, has := k.set.indexes[d]
	if !has {
		return nil
	}
	list := k.found.Value(uint32(at))
	known := list.Load()
	if known == nil {
		known = new(k.find(d))
		list.Store(known) // another reader stores an equal list
	}
	return *known
}

func (k *kindItems) find(d resource.Destination) (found []placedItem) {
	for selector := range items.OfDestination(k.reading.Semantics, d) {
		first := len(found)
		for _, it := range k.filed.ItemsFor(selector) {
			if section, finds := items.Finds(k.reading.Semantics, it.Policy, it.targetRef(), d); finds {
				found = append(found, placedItem{section, it})
			}
		}
		if first > 0 && first < len(found) {
			slices.SortFunc(found, func(a, b placedItem) int { return k.compare(a.item, b.item) })
		}
	}
	return found
}

// referringTo returns the items that refer to a route, in order.
func (k *kindItems) referringTo(route *resource.Policy) []*item {
	s := k.reading.Semantics
	list := k.joined(k.filed.ItemsFor(items.RouteNamed(s.ReferenceName(&route.Meta))), k.filed.ItemsFor(items.LabelledRoutes))
	return slices.DeleteFunc(list, func(it *item) bool { return !s.RefersToRoute(it.Policy, it.targetRef(), route) })
}

// slotSet is a set of the slots of policies.
type slotSet []uint64

func (s slotSet) has(it *item) bool { return s[it.slot/64]&(1<<(it.slot%64)) != 0 }

// noSlots returns an empty set.
func (x *Index) noSlots() slotSet { return make(slotSet, (x.policies.Limit()+63)/64) }

// addSlots adds the policies of a list that have items. Lists share most of their pages, also
// with lists of earlier versions, and a page keeps its slots: a page is in no version that
// lacks one of its policies, so these keep their slots.
func (x *Index) addSlots(set slotSet, matched results.Matched) {
	for _, page := range matched.Pages() {
		for _, w := range page.Slots(x.slotOf) {
			set[w.At] |= w.Bits
		}
	}
}

// slotOf returns the slot of a policy if it has items.
func (x *Index) slotOf(p *resource.Policy) (slot uint32, has bool) {
	if len(p.To) == 0 {
		return 0, false
	}
	return x.policies.Slot(p), true
}

// among returns the items of a list whose policies are in the set.
func (s slotSet) among(list []*item) []*item {
	var in []*item
	for _, it := range list {
		if s.has(it) {
			in = append(in, it)
		}
	}
	return in
}
