package random

import (
	"reflect"
	"testing"

	fuzz "github.com/google/gofuzz"
)

type conf struct {
	Inner *inner
	List  []inner
	Count int
}

type inner struct{ C *string }

func TestConfs(t *testing.T) {
	digits := func(s *string, c fuzz.Continue) { *s = string(rune('0' + c.Intn(10))) }
	next, again, other := Confs[conf](3, digits), Confs[conf](3, digits), Confs[conf](4, digits)
	absent, present, different := 0, 0, false
	for range 200 {
		c := next()
		if !reflect.DeepEqual(c, again()) {
			t.Fatal("the same seed gave another conf")
		}
		different = different || !reflect.DeepEqual(c, other())
		if c.Count < 0 || c.Count > 3 || len(c.List) > 3 {
			t.Errorf("%+v is not from the small alphabets", c)
		}
		if c.Inner == nil || c.Inner.C == nil {
			absent++
			continue
		}
		present++
		if text := *c.Inner.C; len(text) != 1 || text[0] < '0' || text[0] > '9' {
			t.Fatalf("%q was not made by the function for strings", text)
		}
	}
	if absent < 50 || present < 50 {
		t.Errorf("of 200 pointers to strings %d are nil and %d not", absent, present)
	}
	if !different {
		t.Error("another seed gave the same confs")
	}
}

func TestSequences(t *testing.T) {
	next, again := Sequences[conf](3, 4), Sequences[conf](3, 4)
	lengths := map[int]int{}
	for range 200 {
		confs := next()
		if !reflect.DeepEqual(confs, again()) {
			t.Fatal("the same seed gave another sequence")
		}
		lengths[len(confs)]++
	}
	for n := 1; n <= 4; n++ {
		if lengths[n] < 20 {
			t.Errorf("%d of 200 sequences have the length %d", lengths[n], n)
		}
	}
	if len(lengths) != 4 {
		t.Errorf("lengths %v, want 1 to 4", lengths)
	}
}

// condition contains itself in four ways.
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
	next, largest := Confs[condition](1), 0
	for range 200 {
		largest = max(largest, next().size())
	}
	if largest < 2 || largest > 100 {
		t.Errorf("the largest of 200 conditions has %d parts, want more than one and not many", largest)
	}
}
