package laws

import (
	"fmt"
	"hash/maphash"
	"iter"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"
)

// conf and merger are written by hand as confgen would generate them, with a bug B.
type conf[B any] struct {
	A      *int     `json:"a"`
	Inner  *inner   `json:"inner"`
	Append []string `json:"append"`
}

type inner struct {
	C *string `json:"c"`
}

type merger[B any] struct {
	conf       conf[B]
	inner      inner
	a, c, here int // 1 + item
	runs       []int
	list       int
}

// The bugs.
type (
	none             struct{}
	emptyResets      struct{}
	notAssociative   struct{}
	lowestWins       struct{}
	completeTooEarly struct{}
	completeAndNot   struct{}
	writesInput      struct{}
	sharesList       struct{}
	equalAlways      struct{}
	equalNever       struct{}
	equalsNil        struct{}
	nilEqualsEmpty   struct{}
	hashOfAddress    struct{}
	hashWithoutList  struct{}
	shallowClone     struct{}
	forgetfulClone   struct{}
	leafMissing      struct{}
	leafTwice        struct{}
	leafOfNothing    struct{}
	leafOfOther      struct{}
	leafGoesOn       struct{}
	originMissing    struct{}
	originTooMany    struct{}
	originDescending struct{}
	originAllocates  struct{}
	originDropsDst   struct{}
)

// has reports whether B is the bug X.
func has[B, X any]() bool { return reflect.TypeFor[B]() == reflect.TypeFor[X]() }

func (c *conf[B]) Equal(o *conf[B]) bool {
	switch {
	case has[B, equalAlways]():
		return true
	case has[B, equalsNil]() && o == nil:
		return true
	case has[B, equalNever]() || o == nil:
		return false
	case has[B, nilEqualsEmpty]():
		return reflect.DeepEqual(c.A, o.A) && reflect.DeepEqual(c.Inner, o.Inner) && slices.Equal(c.Append, o.Append)
	}
	return reflect.DeepEqual(c, o)
}

var hashSeed = maphash.MakeSeed()

func (c *conf[B]) Hash() uint64 {
	text := text(c)
	switch {
	case has[B, hashOfAddress]():
		text += fmt.Sprint(uintptr(unsafe.Pointer(c)))
	case has[B, hashWithoutList]():
		text, _, _ = strings.Cut(text, `"append"`)
	}
	return maphash.String(hashSeed, text)
}

func (c *conf[B]) Clone() *conf[B] {
	clone := deepCopy(c)
	switch {
	case has[B, shallowClone]():
		*clone = *c
	case has[B, forgetfulClone]():
		clone.Inner = nil
	}
	return clone
}

func (m *merger[B]) Fill(lower *conf[B], item int) bool {
	switch {
	case has[B, emptyResets]() && m.a == 0 && lower.A == nil:
		m.a, m.conf.A = item+1, new(int)
	case has[B, notAssociative]() && m.a != 0 && lower.A != nil:
		difference := *lower.A - *m.conf.A
		m.conf.A = &difference
	case has[B, writesInput]() && m.a != 0 && lower.A != nil:
		*lower.A = 7
	}
	if lower.A != nil && (m.a == 0 || has[B, lowestWins]()) {
		m.a, m.conf.A = item+1, lower.A
	}
	if lower.Inner != nil {
		if m.here == 0 {
			m.here, m.conf.Inner = item+1, &m.inner
		}
		if m.c == 0 && lower.Inner.C != nil {
			m.c, m.inner.C = item+1, lower.Inner.C
		}
	}
	if lower.Append != nil {
		if m.list == 0 {
			m.list = item + 1
		}
		m.runs = append(slices.Repeat([]int{item}, len(lower.Append)), m.runs...)
		before := lower.Append
		if !has[B, sharesList]() {
			before = append([]string{}, before...)
		}
		m.conf.Append = append(before, m.conf.Append...)
	}
	return has[B, completeTooEarly]() || has[B, completeAndNot]() && item%2 == 1
}

func (m *merger[B]) Conf() *conf[B] { return &m.conf }

func (m *merger[B]) Leaves() iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		if m.a != 0 && !has[B, leafMissing]() {
			item := m.a - 1
			if has[B, leafOfOther]() {
				item = 0
			}
			if !yield("/a", item) && !has[B, leafGoesOn]() {
				return
			}
			if has[B, leafTwice]() && !yield("/a", item) {
				return
			}
		}
		switch {
		case m.c != 0:
			if !yield("/inner/c", m.c-1) {
				return
			}
		case m.here != 0:
			if !yield("/inner", m.here-1) {
				return
			}
		case has[B, leafOfNothing]():
			if !yield("/inner", 0) {
				return
			}
		}
		for i, item := range m.runs {
			if !yield(fmt.Sprintf("/append/%d", i), item) {
				return
			}
		}
		if m.list != 0 && len(m.runs) == 0 {
			yield("/append", m.list-1)
		}
	}
}

func (m *merger[B]) Origins(dst []int) []int {
	base := len(dst)
	if has[B, originDropsDst]() {
		dst, base = dst[:0], 0
	}
	add := func(item int) {
		if i, found := slices.BinarySearch(dst[base:], item); !found {
			dst = slices.Insert(dst, base+i, item)
		}
	}
	if m.a != 0 && !has[B, originMissing]() {
		add(m.a - 1)
	}
	if m.c != 0 {
		add(m.c - 1)
	} else if m.here != 0 {
		add(m.here - 1)
	}
	for _, item := range m.runs {
		add(item)
	}
	if m.list != 0 && len(m.runs) == 0 {
		add(m.list - 1)
	}
	switch {
	case has[B, originTooMany]():
		add(0)
	case has[B, originDescending]():
		slices.Reverse(dst[base:])
	case has[B, originAllocates]():
		return slices.Clip(append([]int{}, dst...))
	}
	return dst
}

// broken returns the errors that Check reports for a bug.
func broken[B any]() []string {
	var r recorder
	Check[conf[B], merger[B]](&r)
	return r.lines
}

// recorder is a testing.TB that records errors.
type recorder struct {
	testing.TB
	lines []string
}

func (r *recorder) Helper() {}
func (r *recorder) Errorf(format string, args ...any) {
	r.lines = append(r.lines, fmt.Sprintf(format, args...))
}

// TestBugsAreFound lists the law that finds each bug. Other laws may find it as
// well.
func TestBugsAreFound(t *testing.T) {
	tests := []struct {
		bug    string
		broken []string
		law    string
		text   string
	}{
		{"an empty conf sets something", broken[emptyResets](), "identity", "the empty conf"},
		{"the result depends on the grouping", broken[notAssociative](), "associativity", "in groups"},
		{"the lowest wins", broken[lowestWins](), "priority", "/a"},
		{"complete too early", broken[completeTooEarly](), "completeness", "below a complete merge"},
		{"complete, then incomplete", broken[completeAndNot](), "completeness", "no longer"},
		{"an input is changed", broken[writesInput](), "inputs", "was changed"},
		{"results share the array of a list", broken[sharesList](), "aliasing", "changed the result"},
		{"Equal is always true", broken[equalAlways](), "equality", "equals"},
		{"Equal is never true", broken[equalNever](), "equality", "does not equal a copy"},
		{"a conf equals nil", broken[equalsNil](), "equality", "equals nil"},
		{"nil equals empty", broken[nilEqualsEmpty](), "equality", "equals"},
		{"Hash differs for equal confs", broken[hashOfAddress](), "hash", "different hashes"},
		{"Hash does not see a field", broken[hashWithoutList](), "hash", "same hash"},
		{"Clone shares pointers", broken[shallowClone](), "clone", "is shared"},
		{"changing a clone changes a result", broken[shallowClone](), "aliasing", "a clone"},
		{"Clone forgets a field", broken[forgetfulClone](), "clone", "the clone of"},
		{"a leaf is missing", broken[leafMissing](), "leaves", "has no leaf"},
		{"a leaf is reported twice", broken[leafTwice](), "leaves", "twice"},
		{"a leaf is not in the result", broken[leafOfNothing](), "leaves", "not in the result"},
		{"a leaf has the wrong item", broken[leafOfOther](), "leaves", "item 0"},
		{"Leaves does not stop", broken[leafGoesOn](), "leaves", "goes on"},
		{"an origin is missing", broken[originMissing](), "origins", "which has a leaf"},
		{"the result changes without an item that is not an origin", broken[originMissing](), "removal", "without it"},
		{"an item without leaves is an origin", broken[originTooMany](), "origins", "are not the items of the leaves"},
		{"origins do not ascend", broken[originDescending](), "origins", "not ascending"},
		{"origins are not appended in place", broken[originAllocates](), "allocation", "allocations"},
		{"origins drop the previous elements of dst", broken[originDropsDst](), "origins", "appended to"},
	}
	for _, test := range tests {
		t.Run(test.bug, func(t *testing.T) {
			prefix := fmt.Sprintf("law %q is broken: ", test.law)
			for _, line := range test.broken {
				if strings.HasPrefix(line, prefix) && strings.Contains(line, test.text) {
					return
				}
			}
			t.Errorf("law %q did not find it; found:\n%s", test.law, strings.Join(test.broken, "\n"))
		})
	}
}

func TestCorrectCodeKeepsTheLaws(t *testing.T) {
	Check[conf[none], merger[none]](t)
}

// TestLawsWithoutHashAndClone checks a type that has neither method.
func TestLawsWithoutHashAndClone(t *testing.T) {
	typ := Type[any]{
		NewMerger: func() Merger[any] { return &erased{} },
		Equal:     func(a, b any) bool { return reflect.DeepEqual(a, b) },
	}
	for _, law := range typ.Laws() {
		for n := range 3 {
			if err := law.Holds([]any{&bare{A: &n}, &bare{}, &bare{A: new(int)}}); err != nil {
				t.Errorf("%s: %v", law.Name, err)
			}
		}
	}
}

// bare is a conf with one leaf, and erased is its merger for the type any.
type bare struct {
	A *int `json:"a"`
}

type erased struct {
	conf bare
	item int // 1 + item
}

func (e *erased) Fill(lower any, item int) bool {
	if a := lower.(*bare).A; e.item == 0 && a != nil {
		e.conf.A, e.item = a, item+1
	}
	return e.item != 0
}

func (e *erased) Conf() any { return &e.conf }

func (e *erased) Origins(dst []int) []int {
	if e.item == 0 {
		return dst
	}
	return append(dst, e.item-1)
}

func (e *erased) Leaves() iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		if e.item != 0 {
			yield("/a", e.item-1)
		}
	}
}

// TestUnionsKeepFewerLaws: the laws that a union breaks are omitted.
func TestUnionsKeepFewerLaws(t *testing.T) {
	names := func(union bool) (names []string) {
		for _, law := range (Type[any]{Union: union}).Laws() {
			names = append(names, law.Name)
		}
		return names
	}
	want := append(names(true), "associativity", "priority", "removal")
	if got := names(false); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestEachChange changes every part of a conf once, and restores it.
func TestEachChange(t *testing.T) {
	type part struct {
		N    int            `json:"n"`
		List []int          `json:"list"`
		Map  map[string]int `json:"a/b~c"`
		None *int
		Skip func() `json:"skip"`
	}
	c := &part{List: []int{1}, Map: map[string]int{"c": 1, "a": 2}}
	before := deepCopy(c)
	var paths []string
	if err := eachChange(c, func(path string) error {
		if same(c, before) {
			t.Errorf("%s is not changed", path)
		}
		if path == "/a~1b~0c" && !same(c.Map, map[string]int{"c": 1}) {
			t.Errorf("the removed key is not the smallest: left %v", c.Map)
		}
		paths = append(paths, path)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"/n", "/list", "/list/0", "/a~1b~0c", "/a~1b~0c/a", "/a~1b~0c/c", "/None"}; !slices.Equal(paths, want) {
		t.Errorf("changed %v, want %v", paths, want)
	}
	if !same(c, before) {
		t.Errorf("left %v, want %v", c, before)
	}
}
