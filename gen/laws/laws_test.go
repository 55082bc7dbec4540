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

	fuzz "github.com/google/gofuzz"
)

// conf and merger are what confgen would generate, by hand and with a bug B.
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
	case has[B, equalNever]() || o == nil:
		return false
	case has[B, nilEqualsEmpty]():
		return reflect.DeepEqual(c.A, o.A) && reflect.DeepEqual(c.Inner, o.Inner) && slices.Equal(c.Append, o.Append)
	}
	return reflect.DeepEqual(c, o)
}

var seed = maphash.MakeSeed()

func (c *conf[B]) Hash() uint64 {
	text := renderOne(c)
	switch {
	case has[B, hashOfAddress]():
		text += fmt.Sprint(uintptr(unsafe.Pointer(c)))
	case has[B, hashWithoutList]():
		text, _, _ = strings.Cut(text, `"append"`)
	}
	return maphash.String(seed, text)
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

func broken[B any]() []string {
	return violations[conf[B], merger[B], *conf[B], *merger[B]](nil)
}

// TestBugsAreFound gives for each bug the law that finds it. Other laws may
// find it too.
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
		{"complete and then not", broken[completeAndNot](), "completeness", "and then not"},
		{"an input is changed", broken[writesInput](), "inputs", "was changed"},
		{"results share the array of a list", broken[sharesList](), "aliasing", "changed the result"},
		{"Equal is always true", broken[equalAlways](), "equality", "equals"},
		{"Equal is never true", broken[equalNever](), "equality", "does not equal a copy"},
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
		{"without an item that is no origin the result changes", broken[originMissing](), "removal", "without it"},
		{"an item without leaves is an origin", broken[originTooMany](), "origins", "not what the leaves have"},
		{"origins do not ascend", broken[originDescending](), "origins", "not ascending"},
		{"origins are not appended in place", broken[originAllocates](), "origins", "allocations"},
		{"origins drop what was there", broken[originDropsDst](), "origins", "appended to"},
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
	for seed := range int64(5) {
		Check[conf[none], merger[none]](t, WithSeed(seed), WithRounds(100), WithConfs(7))
	}
}

// TestCheckReports runs Check with a testing.TB that only listens.
func TestCheckReports(t *testing.T) {
	var errors listener
	Check[conf[lowestWins], merger[lowestWins]](&errors)
	if len(errors.said) == 0 {
		t.Error("Check reported nothing to t")
	}
}

type listener struct {
	testing.TB
	said []any
}

func (l *listener) Helper()           {}
func (l *listener) Error(args ...any) { l.said = append(l.said, args...) }

func TestRandom(t *testing.T) {
	digits := func(s *string, c fuzz.Continue) { *s = string(rune('0' + c.Intn(10))) }
	next := Random[conf[none]](WithSeed(3), WithFuncs(digits))
	again := Random[conf[none]](WithSeed(3), WithFuncs(digits))
	absent, present := 0, 0
	for range 200 {
		c := next()
		if !same(c, again()) {
			t.Fatal("the same seed gave another conf")
		}
		if c.Inner == nil || c.Inner.C == nil {
			absent++
			continue
		}
		present++
		if len(*c.Inner.C) != 1 || (*c.Inner.C)[0] < '0' || (*c.Inner.C)[0] > '9' {
			t.Fatalf("%q was not made by the function for strings", *c.Inner.C)
		}
	}
	if absent < 50 || present < 50 {
		t.Errorf("of 200 pointers to strings %d are nil and %d not", absent, present)
	}
}

// condition has four ways to contain itself.
type condition struct {
	All  []condition
	Any  []*condition
	Not  *condition
	By   map[string]condition
	Hook func()
	Data any
}

func (c *condition) size() int {
	if c == nil {
		return 0
	}
	n := 1 + c.Not.size()
	for i := range c.All {
		n += c.All[i].size()
	}
	for _, one := range c.Any {
		n += one.size()
	}
	for _, one := range c.By {
		n += one.size()
	}
	return n
}

func TestRandomOfTypesThatContainThemselves(t *testing.T) {
	next, largest := Random[condition](), 0
	for range 200 {
		largest = max(largest, next().size())
	}
	if largest < 2 || largest > 100 {
		t.Errorf("the largest of 200 conditions has %d parts, want more than one and not many", largest)
	}
}

// TestChangesAreRepeatable removes one entry of a map.
func TestChangesAreRepeatable(t *testing.T) {
	for range 20 {
		v := map[string]int{"c": 1, "a": 2, "b": 3}
		changeValue(reflect.ValueOf(&v).Elem(), nil)
		if !same(v, map[string]int{"c": 1, "b": 3}) {
			t.Fatalf("left %v", v)
		}
	}
}
