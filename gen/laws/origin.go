package laws

import (
	"fmt"
	"slices"
	"testing"
)

// leaves: each leaf names something in the result, once, and an item whose
// conf has it; a leaf without parts has the value of that item.
func (s *suite[T, M, PT, PM]) leaves(confs []*T) string {
	m := s.merge(confs...)
	seen := make(map[string]bool)
	for pointer, item := range m.Leaves() {
		value, ok := resolve(m.Conf(), pointer)
		switch {
		case !ok || isNil(value):
			return fmt.Sprintf("the leaf %s is not in the result %s", pointer, renderOne(m.Conf()))
		case seen[pointer]:
			return fmt.Sprintf("the leaf %s is reported twice", pointer)
		case item < 0 || item >= len(confs):
			return fmt.Sprintf("the leaf %s has the item %d of %d", pointer, item, len(confs))
		}
		seen[pointer] = true
		if crossesList(m.Conf(), pointer) {
			continue
		}
		set, ok := resolve(s.merge(confs[item]).Conf(), pointer)
		if !ok || isNil(set) {
			return fmt.Sprintf("the leaf %s is not in its item %d", pointer, item)
		}
		if !s.elements && !same(value.Interface(), set.Interface()) {
			return fmt.Sprintf("the leaf %s has not the value of its item %d in the result %s", pointer, item, renderOne(m.Conf()))
		}
	}
	if empty := s.merge().Conf(); len(seen) == 0 && !same(m.Conf(), empty) {
		return fmt.Sprintf("the result %s has no leaf", renderOne(m.Conf()))
	}
	calls := 0
	m.Leaves()(func(string, int) bool { calls++; return false })
	if calls > 1 {
		return "Leaves goes on after it was stopped"
	}
	return ""
}

// priority: the item of a leaf is the highest whose conf has it. Lists that
// are appended to have leaves of all items; with unions, an item may have what
// its type drops.
func (s *suite[T, M, PT, PM]) priority(confs []*T) string {
	m := s.merge(confs...)
	for pointer, item := range m.Leaves() {
		if s.elements || crossesList(m.Conf(), pointer) {
			continue
		}
		for higher := len(confs) - 1; higher > item; higher-- {
			above := s.merge(confs[higher])
			if v, ok := resolve(above.Conf(), pointer); ok && !isNil(v) && hasLeaf[T, M](above, pointer) {
				return fmt.Sprintf("the leaf %s is said to be of item %d, but item %d sets it", pointer, item, higher)
			}
		}
	}
	return ""
}

func hasLeaf[T, M any, PM Merger[T, M]](m PM, pointer string) bool {
	for p := range m.Leaves() {
		if p == pointer {
			return true
		}
	}
	return false
}

// origins: the items of the leaves, ascending, appended without allocation.
func (s *suite[T, M, PT, PM]) origins(confs []*T) string {
	m := s.merge(confs...)
	got := m.Origins(nil)
	if !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != len(got) {
		return fmt.Sprintf("%v is not ascending", got)
	}
	var items []int
	for _, item := range m.Leaves() {
		if !slices.Contains(got, item) {
			return fmt.Sprintf("%v lacks %d, which has a leaf", got, item)
		}
		items = append(items, item)
	}
	slices.Sort(items)
	if items = slices.Compact(items); !s.elements && !slices.Equal(items, got) {
		return fmt.Sprintf("%v is not what the leaves have, %v", got, items)
	}
	if len(got) > 0 && (got[0] < 0 || got[len(got)-1] >= len(confs)) {
		return fmt.Sprintf("%v is not in range: there are %d items", got, len(confs))
	}
	room := make([]int, 2, 2+len(confs))
	room[0], room[1] = 100, 50
	if with := m.Origins(room); !slices.Equal(with[:2], room) || !slices.Equal(with[2:], got) {
		return fmt.Sprintf("appended to %v it is %v and not %v", room, with, got)
	}
	if n := testing.AllocsPerRun(1, func() { m.Origins(room) }); n > 0 {
		return fmt.Sprintf("%.0f allocations although there was room", n)
	}
	return ""
}

// removal: an item that is no origin could as well not be there.
func (s *suite[T, M, PT, PM]) removal(confs []*T) string {
	m := s.merge(confs...)
	origins := m.Origins(nil)
	for item := range confs {
		if slices.Contains(origins, item) {
			continue
		}
		rest := slices.Delete(slices.Clone(confs), item, item+1)
		if got := s.merge(rest...).Conf(); !same(got, m.Conf()) {
			return fmt.Sprintf("%d is no origin of %s, but without it the result is %s", item, renderOne(m.Conf()), renderOne(got))
		}
	}
	return ""
}
