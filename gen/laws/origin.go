package laws

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"
)

// mergesElements reports whether one leaf of a conf can have several origins.
func mergesElements(c any) bool {
	root := reflect.TypeOf(c).Elem()
	return walk{root}.mergesElements(root)
}

// leaves: each leaf names a part of the result, once, and an item whose conf has that
// part; a leaf without parts has the value of that item.
func (t Type[C]) leaves(confs []C) error {
	m := t.merge(confs...)
	elements := mergesElements(confs[0])
	seen := make(map[string]bool)
	for pointer, item := range m.Leaves() {
		value, ok := resolve(m.Conf(), pointer)
		switch {
		case !ok || isNil(value):
			return fmt.Errorf("the leaf %s is not in the result %s", pointer, text(m.Conf()))
		case seen[pointer]:
			return fmt.Errorf("the leaf %s is reported twice", pointer)
		case item < 0 || item >= len(confs):
			return fmt.Errorf("the leaf %s has the item %d of %d", pointer, item, len(confs))
		}
		seen[pointer] = true
		if crossesList(m.Conf(), pointer) {
			continue
		}
		set, ok := resolve(t.merge(confs[item]).Conf(), pointer)
		if !ok || isNil(set) {
			return fmt.Errorf("the leaf %s is not in its item %d", pointer, item)
		}
		if !elements && !same(value.Interface(), set.Interface()) {
			return fmt.Errorf("the leaf %s does not have the value of its item %d in the result %s", pointer, item, text(m.Conf()))
		}
	}
	if len(seen) == 0 && !same(m.Conf(), t.empty()) {
		return fmt.Errorf("the result %s has no leaf", text(m.Conf()))
	}
	calls := 0
	m.Leaves()(func(string, int) bool { calls++; return false })
	if calls > 1 {
		return fmt.Errorf("iteration goes on after it was stopped at the first of %d leaves", len(seen))
	}
	return nil
}

// priority: the item of a leaf is the highest whose conf has it. It is not
// checked for lists that are appended to, whose leaves come from all items.
func (t Type[C]) priority(confs []C) error {
	m := t.merge(confs...)
	if mergesElements(confs[0]) {
		return nil
	}
	for pointer, item := range m.Leaves() {
		if crossesList(m.Conf(), pointer) {
			continue
		}
		for higher := len(confs) - 1; higher > item; higher-- {
			above := t.merge(confs[higher])
			if v, ok := resolve(above.Conf(), pointer); ok && !isNil(v) && hasLeaf(above, pointer) {
				return fmt.Errorf("the leaf %s has the item %d, but item %d sets it", pointer, item, higher)
			}
		}
	}
	return nil
}

func hasLeaf[C any](m Merger[C], pointer string) bool {
	_, has := maps.Collect(m.Leaves())[pointer]
	return has
}

// origins: the items of the leaves, ascending, appended to the given slice.
func (t Type[C]) origins(confs []C) error {
	m := t.merge(confs...)
	got := m.Origins(nil)
	if !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != len(got) {
		return fmt.Errorf("%v is not ascending", got)
	}
	var items []int
	for _, item := range m.Leaves() {
		if !slices.Contains(got, item) {
			return fmt.Errorf("%v lacks %d, which has a leaf", got, item)
		}
		items = append(items, item)
	}
	slices.Sort(items)
	if items = slices.Compact(items); !mergesElements(confs[0]) && !slices.Equal(items, got) {
		return fmt.Errorf("%v are not the items of the leaves, %v", got, items)
	}
	if len(got) > 0 && (got[0] < 0 || got[len(got)-1] >= len(confs)) {
		return fmt.Errorf("%v is not in range: there are %d items", got, len(confs))
	}
	room := originsRoom(len(confs))
	if with := m.Origins(room); !slices.Equal(with[:2], room) || !slices.Equal(with[2:], got) {
		return fmt.Errorf("appended to %v it is %v, want %v", room, with, got)
	}
	return nil
}

// originsRoom returns a list with two elements and capacity for n more.
func originsRoom(n int) []int { return append(make([]int, 0, 2+n), 100, 50) }

// allocation: Origins does not allocate if the capacity of dst is sufficient.
// One of its allocations is in each run; what the runtime allocates beside them is not.
func (t Type[C]) allocation(confs []C) error {
	m, room := t.merge(confs...), originsRoom(len(confs))
	if n := testing.AllocsPerRun(4, func() { m.Origins(room) }); n > 0 {
		return fmt.Errorf("there are %.0f allocations in Origins although dst has the capacity", n)
	}
	return nil
}

// removal: the result is the same without an item that is not an origin.
func (t Type[C]) removal(confs []C) error {
	m := t.merge(confs...)
	origins := m.Origins(nil)
	for item := range confs {
		if slices.Contains(origins, item) {
			continue
		}
		rest := slices.Delete(slices.Clone(confs), item, item+1)
		if got := t.merge(rest...).Conf(); !same(got, m.Conf()) {
			return fmt.Errorf("%d is not an origin of %s, but without it the result is %s", item, text(m.Conf()), text(got))
		}
	}
	return nil
}
