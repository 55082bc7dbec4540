package index

import (
	"math/bits"
	"math/rand/v2"
	"testing"
)

// TestHashTable fills and empties a table under hash functions from even to
// hopeless. Whatever the hash, the table must be right, and its directory must
// stay in proportion to its entries.
func TestHashTable(t *testing.T) {
	for name, hash := range map[string]func(n uint32) uint32{
		"even":                   func(n uint32) uint32 { return n * 2654435769 },
		"bits from the low end":  func(n uint32) uint32 { return n },
		"bits from the high end": bits.Reverse32,
		"seven values":           func(n uint32) uint32 { return n % 7 * 0x1111_1111 },
		"one value":              func(uint32) uint32 { return 0xffff_ffff },
	} {
		t.Run(name, func(t *testing.T) {
			const n = 3000
			numbers := rand.New(rand.NewPCG(7, 8)).Perm(n)
			find := func(e *hashTable, number uint32) bool {
				got, ok := e.find(hash(number), func(at uint32) bool { return at == number })
				return ok && got == number
			}
			var versions []hashTable
			var empty hashTable
			e := empty.edit()
			for i, number := range numbers {
				e.insert(hash(uint32(number)), uint32(number))
				if i%500 == 0 {
					versions = append(versions, e.commit())
				}
			}
			full := e.commit()
			if dir := 1 << full.depth; dir > n/4 {
				t.Errorf("a directory of %d for %d entries", dir, n)
			}
			for i := range uint32(1) << full.depth {
				if b := full.dir.Value(i); name == "even" && b.more != nil {
					t.Errorf("bucket %d was not split", i)
				}
			}
			for _, number := range numbers[:n/2] {
				e.remove(hash(uint32(number)), uint32(number))
			}
			half := e.commit()
			for i, number := range numbers {
				if !find(&full, uint32(number)) {
					t.Fatalf("full: lost %d", number)
				}
				if find(&half, uint32(number)) != (i >= n/2) {
					t.Fatalf("half: %d is there: %v", number, i < n/2)
				}
				for v := range versions {
					if find(&versions[v], uint32(number)) != (i <= 500*v) {
						t.Fatalf("version %d changed: number %d", v, i)
					}
				}
			}
			if full.n != n || half.n != n/2 {
				t.Errorf("%d and %d entries, want %d and %d", full.n, half.n, n, n/2)
			}
		})
	}
}
