package index

import (
	"maps"
	"math/rand/v2"
	"testing"
)

func TestVectorVersions(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	type version struct {
		v    vector[int]
		want map[uint32]int
	}
	versions := []version{{want: map[uint32]int{}}}
	for range 100 {
		from := versions[r.IntN(len(versions))]
		e, want := from.v.edit(), maps.Clone(from.want)
		for range 50 {
			i, value := r.Uint32N(10_000), r.Int()
			*e.mut(i), want[i] = value, value
			if e.value(i) != value {
				t.Fatal("the editor does not see its own write")
			}
		}
		versions = append(versions, version{e.commit(), want})
		*e.mut(r.Uint32N(10_000)) = -1 // after a commit: must not reach what was published
	}
	for n, version := range versions {
		for i := range uint32(10_000) {
			if got := version.v.value(i); got != version.want[i] {
				t.Fatalf("version %d: element %d is %d, want %d", n, i, got, version.want[i])
			}
		}
	}
}

func TestVectorSharesPages(t *testing.T) {
	var e vectorEditor[int]
	for i := range uint32(10_000) {
		*e.mut(i) = int(i)
	}
	before := e.commit()
	*e.mut(5_000) = -1
	after := e.commit()
	copied := 0
	for i := uint32(0); i < 10_000; i += 1 << leafBits {
		if before.get(i) != after.get(i) {
			copied++
		}
	}
	if copied != 1 {
		t.Errorf("one write copied %d pages", copied)
	}
	if before.get(20_000) != nil || before.get(1<<32-1) != nil {
		t.Error("there is an element that was never written")
	}
}
