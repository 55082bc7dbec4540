package xds_test

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/xds"
)

// A value is made once for each key. Keys of different types are different keys.
func TestMemo(t *testing.T) {
	type filter struct{ name string }
	type limit struct{ name string }
	var memo xds.Memo
	made := 0
	text := func() *string { made++; return new(string) }
	a := xds.Once(&memo, filter{"a"}, text)
	if xds.Once(&memo, filter{"a"}, text) != a || made != 1 {
		t.Errorf("one key has several values: made %d times", made)
	}
	if xds.Once(&memo, filter{"b"}, text) == a || xds.Once(&memo, limit{"a"}, func() *int { made++; return new(int) }) == nil || made != 3 {
		t.Errorf("three keys, but made %d times", made)
	}
}
