package memo_test

import (
	"runtime"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/xds/memo"
)

// A value is made once for each key. Keys of different types are different keys.
func TestMemo(t *testing.T) {
	type filter struct{ name string }
	type limit struct{ name string }
	var m memo.Memo
	made := 0
	text := func() *string { made++; return new(string) }
	a := memo.Once(&m, filter{"a"}, text)
	if memo.Once(&m, filter{"a"}, text) != a || made != 1 {
		t.Errorf("one key has several values: made %d times", made)
	}
	b, number := memo.Once(&m, filter{"b"}, text), memo.Once(&m, limit{"a"}, func() *int { made++; return new(3) })
	if b == a || *number != 3 || made != 3 {
		t.Errorf("three keys have the values %p, %p and %d, and were made %d times", a, b, *number, made)
	}
}

// A value that is in use is made once. One that is not is made again after a collection.
func TestWeakly(t *testing.T) {
	type filter struct{ name string }
	var m memo.Memo
	made := 0
	text := func() *[64]byte { made++; return new([64]byte) }
	a := memo.Weakly(&m, filter{"a"}, text)
	runtime.GC()
	if memo.Weakly(&m, filter{"a"}, text) != a || made != 1 {
		t.Errorf("a value in use was made %d times", made)
	}
	runtime.KeepAlive(a)
	runtime.GC()
	if memo.Weakly(&m, filter{"a"}, text); made != 2 {
		t.Errorf("a value that is not in use was kept: made %d times", made)
	}
}
