package hashtable_test

import (
	"runtime"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/hashtable"
)

type value struct{ text string }

// Equal values are one pointer while it is in use; values of one hash are told apart.
func TestWeak(t *testing.T) {
	var set hashtable.Weak[value]
	const hash = 1
	called := func(text string) func(*value) bool { return func(v *value) bool { return v.text == text } }
	if set.Find(hash, called("one")) != nil {
		t.Error("the zero Weak has a value")
	}
	one := set.Add(hash, &value{"one"}, called("one"))
	two := set.Add(hash, &value{"two"}, called("two"))
	if set.Add(hash, &value{"one"}, called("one")) != one || set.Find(hash, called("two")) != two || set.Find(hash+1, called("one")) != nil {
		t.Error("a value is added twice, or not found")
	}
	if set.Len() != 2 {
		t.Errorf("%d values, want 2", set.Len())
	}
	runtime.KeepAlive(one)
	one = nil
	for set.Len() > 1 { // until the cleanup ran
		if t.Context().Err() != nil {
			t.Fatal("the value is not freed")
		}
		runtime.GC()
		runtime.Gosched()
	}
	if set.Find(hash, called("two")) != two || set.Find(hash, called("one")) != nil {
		t.Error("after one value was freed, another one is found")
	}
	runtime.KeepAlive(two)
}
