package hashtable_test

import (
	"math/rand/v2"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/hashtable"
)

// After random additions and removals under few hashes, the table agrees with a set.
func TestTableAgreesWithASet(t *testing.T) {
	type pair struct {
		hash  uint64
		value int
	}
	random := rand.New(rand.NewPCG(1, 2))
	var table hashtable.Table[int]
	set := map[pair]bool{}
	for range 20_000 {
		p := pair{random.Uint64N(4), random.IntN(12)}
		if set[p] {
			table.Remove(p.hash, p.value)
			delete(set, p)
		} else {
			table.Add(p.hash, p.value)
			set[p] = true
		}
		if table.Len() != len(set) {
			t.Fatalf("Len is %d, want %d", table.Len(), len(set))
		}
		wanted := pair{random.Uint64N(4), random.IntN(12)}
		got, found := table.Find(wanted.hash, func(v int) bool { return v == wanted.value })
		if found != set[wanted] || found && got != wanted.value {
			t.Fatalf("Find(%v) is %d, %t, want %t", wanted, got, found, set[wanted])
		}
	}
}
