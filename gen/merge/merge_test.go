package merge

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// pair is an element with a key and a leaf, and pairState its state, as the generator writes it.
type pair struct {
	key  string
	leaf *int
}

type pairState struct{ key, leaf int32 }

func (s *pairState) Fill(v, lower *pair, item int32) (set int) {
	if s.key == 0 {
		v.key, s.key = lower.key, item
		set++
	}
	if s.leaf == 0 && lower.leaf != nil {
		v.leaf, s.leaf = lower.leaf, item
		set++
	}
	return set
}
func (s *pairState) Top() int32 { return max(s.key, s.leaf) }
func (s *pairState) Origins(dst []int, base int) []int {
	return Origin(Origin(dst, base, s.key), base, s.leaf)
}
func (s *pairState) Leaves(path string, yield func(string, int) bool) bool {
	return Leaf(path, "/key", s.key, yield) && Leaf(path, "/leaf", s.leaf, yield)
}
func (*pairState) HashKey(p *pair) uint64    { return uint64(len(p.key)) } // so that hashes collide
func (*pairState) EqualKeys(a, b *pair) bool { return a.key == b.key }

func text(list []pair) string {
	var all []string
	for _, p := range list {
		leaf := "-"
		if p.leaf != nil {
			leaf = fmt.Sprint(*p.leaf)
		}
		all = append(all, p.key+leaf)
	}
	return strings.Join(all, " ")
}

// anyState is what all states have.
type anyState interface {
	Top() int32
	Origins(dst []int, base int) []int
	Leaves(path string, yield func(string, int) bool) bool
}

// check compares the leaves and the origins of a state; the latter are appended to others.
func check(t *testing.T, s anyState, leaves string, origins ...int) {
	t.Helper()
	var got []string
	s.Leaves("", func(path string, item int) bool {
		got = append(got, fmt.Sprint(path, "=", item))
		return true
	})
	if joined := strings.Join(got, " "); joined != leaves {
		t.Errorf("the leaves are %q, want %q", joined, leaves)
	}
	want := append([]int{9, 1}, origins...)
	if all := s.Origins([]int{9, 1}, 2); !slices.Equal(all, want) {
		t.Errorf("the origins are %v, want %v", all, want)
	}
	top := int32(0)
	if len(origins) > 0 {
		top = int32(origins[len(origins)-1]) + 1
	}
	if s.Top() != top {
		t.Errorf("the highest item is %d, want %d", s.Top(), top)
	}
	calls := 0
	s.Leaves("", func(string, int) bool { calls++; return false })
	if calls > 1 {
		t.Errorf("%d leaves after the end", calls-1)
	}
}

func leafOf(n int) *int { return &n }

// A pointer is set by the first conf that has it, and its leaves by the first that has them.
func TestSlot(t *testing.T) {
	var s Slot[pair, pairState, *pairState]
	var v *pair
	for i, lower := range []*pair{nil, {key: "a"}, {key: "b", leaf: leafOf(2)}} {
		s.Fill(&v, lower, int32(3-i))
	}
	if got := text([]pair{*v}); got != "a2" {
		t.Errorf("merged to %q", got)
	}
	check(t, &s, "/key=1 /leaf=0", 0, 1)
	check(t, new(Slot[pair, pairState, *pairState]), "")
}

// The presence of a struct without fields is a leaf, once.
func TestPresence(t *testing.T) {
	var s Slot[struct{}, nothing, *nothing]
	var v *struct{}
	if n := s.FillPresence(&v, nil, 3); n != 0 || v != nil {
		t.Errorf("nil sets %d leaves", n)
	}
	if n := s.FillPresence(&v, &struct{}{}, 2); n != 1 || v == nil {
		t.Errorf("the presence sets %d leaves", n)
	}
	if n := s.FillPresence(&v, &struct{}{}, 1); n != 0 {
		t.Errorf("a lower one sets %d leaves", n)
	}
	check(t, &s, "=1", 1)
}

type nothing struct{}

func (*nothing) Fill(_, _ *struct{}, _ int32) int               { return 0 }
func (*nothing) Top() int32                                     { return 0 }
func (*nothing) Origins(dst []int, _ int) []int                 { return dst }
func (*nothing) Leaves(_ string, _ func(string, int) bool) bool { return true }

// Lists that are appended begin with the lowest conf. An empty list is a leaf as long as no conf
// has an element.
func TestAppended(t *testing.T) {
	var s Appended[string]
	var list []string
	list = s.Fill(list, nil, 4)
	if list = s.Fill(list, []string{}, 4); list == nil {
		t.Error("an empty list is not set")
	}
	check(t, &s, "=3", 3)
	for i, lower := range [][]string{{"c", "d"}, nil, {"a", "b"}} {
		list = s.Fill(list, lower, int32(3-i))
	}
	if got := strings.Join(list, " "); got != "a b c d" {
		t.Errorf("merged to %q", got)
	}
	check(t, &s, "/0=0 /1=0 /2=2 /3=2", 0, 2)
}

// Elements with equal keys merge at the place of the last of them, in each form of a list.
func TestKeyed(t *testing.T) {
	confs := [][]pair{{{"b", nil}, {"c", leafOf(1)}}, nil, {{"a", leafOf(2)}, {"b", leafOf(3)}, {"d", nil}}}
	var last, first List[pair, pair, pairState, *pairState]
	var pointers List[*pair, pair, pairState, *pairState]
	var below, above []pair
	var pointed []*pair
	for i, lower := range confs {
		item := int32(3 - i)
		below, above = last.Fill(below, lower, item), first.FillHighestFirst(above, lower, item)
		var list []*pair
		for j := range lower {
			list = append(list, &lower[j], nil) // nil is not set
		}
		pointed = pointers.Fill(pointed, list, item)
	}
	if got := text(below); got != "a2 d- b3 c1" {
		t.Errorf("merged to %q", got)
	}
	check(t, &last, "/0=0 /1=0 /2=2 /3=2", 0, 2)
	if got := text(above); got != "b3 c1 a2 d-" {
		t.Errorf("the highest first: merged to %q", got)
	}
	check(t, &first, "/0=2 /1=2 /2=0 /3=0", 0, 2)
	var values []pair
	for _, p := range pointed {
		values = append(values, *p)
	}
	if got := text(values); got != "a2 d- b3 c1" {
		t.Errorf("pointers: merged to %q", got)
	}
	check(t, &pointers, "/0=0 /1=0 /2=2 /3=2", 0, 2)
	if got := text(confs[0]) + ", " + text(confs[2]); got != "b- c1, a2 b3 d-" {
		t.Errorf("the confs have changed to %q", got)
	}
}

// A list behind a pointer is set by the pointer, even if it is nil.
func TestPresent(t *testing.T) {
	var keyed List[pair, pair, pairState, *pairState]
	var appended Appended[int]
	for _, item := range []int32{3, 2} {
		keyed.Present(item)
		appended.Present(item)
	}
	check(t, &keyed, "=2", 2)
	check(t, &appended, "=2", 2)
}

// Entries of maps are leaves, sorted and escaped; a nil entry is not set.
func TestMaps(t *testing.T) {
	var plain Map[string, *int]
	var structs StructMap[string, pair, pair, pairState, *pairState]
	var pointers StructMap[string, *pair, pair, pairState, *pairState]
	isNil := func(p *int) bool { return p == nil }
	m := plain.Fill(nil, map[string]*int{"z": leafOf(1), "x": nil}, 3, isNil)
	m = plain.Fill(m, map[string]*int{"z": leafOf(2), "x": leafOf(3), "a/~": leafOf(4)}, 1, isNil)
	if len(m) != 3 || *m["z"] != 1 || *m["x"] != 3 {
		t.Errorf("merged to %v", m)
	}
	check(t, &plain, "/a~1~0=0 /x=0 /z=2", 0, 2)
	ofStructs := structs.Fill(nil, map[string]pair{"z": {key: "a"}}, 3)
	ofStructs = structs.Fill(ofStructs, map[string]pair{"z": {key: "b", leaf: leafOf(2)}, "y": {key: "c"}}, 1)
	if got := text([]pair{ofStructs["y"], ofStructs["z"]}); got != "c- a2" {
		t.Errorf("merged to %q", got)
	}
	check(t, &structs, "/y=0 /z=2", 0, 2)
	lower := &pair{key: "b", leaf: leafOf(2)}
	ofPointers := pointers.Fill(nil, map[string]*pair{"z": {key: "a"}, "n": nil}, 3)
	ofPointers = pointers.Fill(ofPointers, map[string]*pair{"z": lower}, 1)
	if got := text([]pair{*ofPointers["z"]}); got != "a2" || len(ofPointers) != 1 || lower.key != "b" {
		t.Errorf("merged to %q of %d", got, len(ofPointers))
	}
	check(t, &pointers, "/z=2", 0, 2)
	var empty Map[string, int]
	if m := empty.Fill(nil, map[string]int{}, 2, nil); m == nil {
		t.Error("an empty map is not set")
	}
	check(t, &empty, "=1", 1)
}
