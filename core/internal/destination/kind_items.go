package destination

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/index"
)

// kindItems contains the `to` items of one kind. It is immutable, except for the caches of
// its items.
type kindItems struct {
	set     *Set
	kind    *resource.Kind
	reading semantics.Reading
	caches  *Caches
	size    int // of the policies with items

	everywhere []placedItem // items that select every outbound
	ofRoutes   []placedItem // items that refer to routes
	attached   int          // the number of policies that are attached to a route and have such items

	// byDestination contains the items that select a destination of the set.
	byDestination index.Vector[[]placedItem]

	none *memo // of confs without items
}

// placedItem is an item in a list. Lists are in order: later items override.
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
	var items []*item
	var slab []item
	for p := range x.policies.All() {
		if p.Kind == kind.Name {
			items = k.appendItems(items, p, x.policies.Slot(p), &slab)
		}
	}
	slices.SortStableFunc(items, k.compare)
	for _, it := range items {
		it.id = k.caches.nextID()
	}
	k.file(items)
	return k
}

// slabItems is the number of items that are allocated together, and freed together.
const slabItems = 16

// appendItems appends the items of a policy that is added. It uses the slab.
func (k *kindItems) appendItems(items []*item, p *resource.Policy, slot uint32, slab *[]item) []*item {
	if len(p.To) == 0 {
		return items
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
			items = append(items, it)
		}
	}
	return items
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

// file puts items, which are in order, into the lists, which are empty. The lists of the
// destinations share one array.
func (k *kindItems) file(items []*item) {
	var found []Found
	var of []*item // parallel to found
	for _, it := range items {
		switch t := it.targetRef(); {
		case t.Kind == resource.TargetMesh:
			k.everywhere = append(k.everywhere, placedItem{"", it})
		case t.Kind.IsRoute():
			k.ofRoutes = append(k.ofRoutes, placedItem{"", it})
		default:
			found = k.set.appendFound(found, it.Policy, t)
		}
		for len(of) < len(found) {
			of = append(of, it)
		}
	}
	starts := make([]int, len(k.set.all)+1)
	for i := range found {
		starts[found[i].at+1]++
	}
	for i := range k.set.all {
		starts[i+1] += starts[i]
	}
	placed := make([]placedItem, len(found))
	next := slices.Clone(starts)
	for i := range found {
		at := found[i].at
		placed[next[at]] = placedItem{found[i].Section, of[i]}
		next[at]++
	}
	lists := k.byDestination.Edit()
	for at := range k.set.all {
		if from, to := starts[at], starts[at+1]; from < to {
			*lists.Mut(uint32(at)) = placed[from:to:to]
		}
	}
	k.byDestination = lists.Commit()
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
	for _, p := range e.removed {
		if len(p.To) > 0 {
			next.count(p, -1)
		}
	}
	var added []*item
	for _, p := range e.added {
		slab := make([]item, len(p.To))
		added = next.appendItems(added, p, policies.Slot(p), &slab)
	}
	lists := listEdit{next: next, byDestination: k.byDestination.Edit(), copied: map[int]bool{}}
	for _, p := range e.removed {
		for i := range p.To {
			lists.each(results.Origin{Policy: p, Index: i}, func(list *[]placedItem, _ string) {
				*list = slices.DeleteFunc(*list, func(it placedItem) bool { return it.Policy == p })
			})
		}
	}
	for _, it := range added {
		it.id = k.caches.nextID()
		lists.each(it.Origin, func(list *[]placedItem, section string) {
			at, _ := slices.BinarySearchFunc(*list, it, func(in placedItem, it *item) int { return k.compare(in.item, it) })
			*list = slices.Insert(*list, at, placedItem{section, it})
		})
	}
	next.byDestination = lists.byDestination.Commit()
	return next
}

// listEdit edits the lists of the next version. Those that change are copied.
type listEdit struct {
	next          *kindItems
	byDestination index.VectorEditor[[]placedItem]
	// The lists that are copied; those of destinations by index.
	everywhere, ofRoutes bool
	copied               map[int]bool
}

// each calls edit with each list in which an item is or will be, and with the section of the
// destination that the item selects there.
func (e *listEdit) each(o results.Origin, edit func(list *[]placedItem, section string)) {
	switch t := &o.Policy.To[o.Index].TargetRef; {
	case t.Kind == resource.TargetMesh:
		if !e.everywhere {
			e.everywhere, e.next.everywhere = true, slices.Clone(e.next.everywhere)
		}
		edit(&e.next.everywhere, "")
	case t.Kind.IsRoute():
		if !e.ofRoutes {
			e.ofRoutes, e.next.ofRoutes = true, slices.Clone(e.next.ofRoutes)
		}
		edit(&e.next.ofRoutes, "")
	default:
		for _, found := range e.next.set.Find(o.Policy, t) {
			list := e.byDestination.Mut(uint32(found.at))
			if !e.copied[found.at] {
				e.copied[found.at], *list = true, slices.Clone(*list)
			}
			edit(list, found.Section)
		}
	}
}

// mostChanged is the largest number of destinations that may change, so that not all items
// are resolved again.
const mostChanged = 16

// of returns the items of the same policies for the next version of the set, or nil if many
// destinations changed.
func (k *kindItems) of(set *Set, policies Policies) *kindItems {
	next := new(*k)
	next.set, next.byDestination = set, index.Vector[[]placedItem]{}
	lists := next.byDestination.Edit()
	var changed []int
	was := 0
	for at, d := range set.all {
		for was < len(k.set.all) && k.set.all[was].Identity().Compare(d.Identity().ID) < 0 {
			was++
		}
		if was == len(k.set.all) || k.set.all[was] != d {
			if changed = append(changed, at); len(changed) > mostChanged {
				return nil
			}
		} else if list := k.selecting(was); list != nil {
			*lists.Mut(uint32(at)) = list
		}
	}
	if len(changed) > 0 {
		k.resolve(set, policies, changed, &lists)
	}
	next.byDestination = lists.Commit()
	return next
}

// resolve makes the lists of some destinations of the next version of the set.
func (k *kindItems) resolve(set *Set, policies Policies, changed []int, lists *index.VectorEditor[[]placedItem]) {
	var found []Found
	for p := range policies.All() {
		if p.Kind != k.kind.Name {
			continue
		}
		for i := range p.To {
			found = found[:0]
			for _, at := range changed {
				found = set.appendIfFound(found, p, &p.To[i].TargetRef, at)
			}
			if len(found) == 0 {
				continue
			}
			it := k.itemOf(p, i, policies)
			for _, f := range found {
				if list := lists.Mut(uint32(f.at)); it != nil {
					*list = append(*list, placedItem{f.Section, it})
				}
			}
		}
	}
	for _, at := range changed {
		slices.SortStableFunc(*lists.Mut(uint32(at)), func(a, b placedItem) int { return k.compare(a.item, b.item) })
	}
}

// itemOf returns an item that refers to destinations: the one in the lists, or a new one if
// the lists do not contain it. It returns nil if the item applies to none.
func (k *kindItems) itemOf(p *resource.Policy, i int, policies Policies) *item {
	ranked, applies := k.reading.Semantics.RankItem(results.Origin{Policy: p, Index: i})
	if !applies {
		return nil
	}
	for _, found := range k.set.Find(p, &p.To[i].TargetRef) {
		for _, it := range k.selecting(found.at) {
			if it.Origin == ranked.Origin {
				return it.item
			}
		}
	}
	return &item{RankedItem: ranked, slot: policies.Slot(p), memo: memo{id: k.caches.nextID()}}
}

// selecting returns the items that select a destination or a section of it.
func (k *kindItems) selecting(destination int) []placedItem {
	return k.byDestination.Value(uint32(destination))
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
func (s slotSet) among(list []placedItem) []*item {
	var in []*item
	for _, it := range list {
		if s.has(it.item) {
			in = append(in, it.item)
		}
	}
	return in
}
