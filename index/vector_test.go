package index

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestVectorVersions(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	type version struct {
		v    Vector[int]
		want map[uint32]int
	}
	versions := []version{{want: map[uint32]int{}}}
	for range 100 {
		from := versions[r.IntN(len(versions))]
		e, want := from.v.Edit(), maps.Clone(from.want)
		for range 50 {
			i, value := r.Uint32N(10_000), r.Int()
			*e.Mut(i), want[i] = value, value
			if e.Value(i) != value {
				t.Fatal("the editor does not see its own write")
			}
		}
		versions = append(versions, version{e.Commit(), want})
		*e.Mut(r.Uint32N(10_000)) = -1 // after a commit: must not change a published version
	}
	for n, version := range versions {
		for i := range uint32(10_000) {
			if got := version.v.Value(i); got != version.want[i] {
				t.Fatalf("version %d: element %d is %d, want %d", n, i, got, version.want[i])
			}
		}
	}
}

func TestVectorSharesPages(t *testing.T) {
	var e VectorEditor[int]
	for i := range uint32(10_000) {
		*e.Mut(i) = int(i)
	}
	before := e.Commit()
	*e.Mut(5_000) = -1
	after := e.Commit()
	copied := 0
	for i := uint32(0); i < 10_000; i += 1 << leafBits {
		if before.Get(i) != after.Get(i) {
			copied++
		}
	}
	if copied != 1 {
		t.Errorf("one write copied %d pages", copied)
	}
	if before.Get(20_000) != nil || before.Get(1<<32-1) != nil {
		t.Error("there is an element that was never written")
	}
}

func TestVectorUnshared(t *testing.T) {
	var e VectorEditor[int]
	for i := range uint32(10_000) {
		*e.Mut(i) = int(i)
	}
	before := e.Commit()
	for _, i := range []uint32{5_000, 5_001, 9_000, 20_000} {
		*e.Mut(i) = -1
	}
	after := e.Commit()
	for name, pair := range map[string][2]*Vector[int]{"forward": {&before, &after}, "backward": {&after, &before}} {
		var differ []uint32
		seen := 0
		for i := range pair[1].Unshared(pair[0]) {
			seen++
			if before.Value(i) != after.Value(i) {
				differ = append(differ, i)
			}
		}
		if want := []uint32{5_000, 5_001, 9_000, 20_000}; !slices.Equal(differ, want) || seen != 3*32 {
			t.Errorf("%s: %v of %d differ, want %v of three pages", name, differ, seen, want)
		}
	}
	for i := range after.Unshared(&after) {
		t.Fatalf("a version does not share element %d with itself", i)
	}
}
