package memo_test

import (
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
