package index

import (
	"maps"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// TestHashTable fills and empties a table under hash functions from evenly spread
// to constant. With each of them the table must be correct, and its directory
// must stay proportional to its entries.
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

// TestHashTableModel makes random edits from any version, with and without
// colliding hashes, and checks all versions at the end.
// A table that is prepared for its entries has buckets of the size that it would have by
// splitting, also if there are more entries than expected.
func TestHashTableGrow(t *testing.T) {
	hash := func(n uint32) uint32 { return n * 2654435769 }
	for name, expected := range map[string]int{"as many": 3000, "fewer": 100, "none": 0} {
		t.Run(name, func(t *testing.T) {
			const n = 3000
			e := (&hashTable{}).edit()
			e.grow(expected)
			depth := e.depth
			for number := range uint32(n) {
				e.insert(hash(number), number)
			}
			e.grow(100 * n) // it has entries: this changes nothing
			if expected == n && e.depth > depth+1 {
				t.Errorf("the directory was doubled from 1<<%d to 1<<%d", depth, e.depth)
			}
			full := e.commit()
			if dir := 1 << full.depth; dir > n/4 {
				t.Errorf("a directory of %d for %d entries", dir, n)
			}
			for number := range uint32(n) {
				if at, ok := full.find(hash(number), func(at uint32) bool { return at == number }); !ok || at != number {
					t.Fatalf("lost %d", number)
				}
			}
		})
	}
}

func TestHashTableModel(t *testing.T) {
	for name, hash := range map[string]func(n uint32) uint32{
		"even":         func(n uint32) uint32 { return n * 2654435769 },
		"seven values": func(n uint32) uint32 { return n % 7 * 0x1111_1111 },
	} {
		t.Run(name, func(t *testing.T) {
			type version struct {
				table hashTable
				want  map[uint32]bool
			}
			check := func(v version) {
				t.Helper()
				for number := range uint32(600) {
					same := 0
					_, ok := v.table.find(hash(number), func(at uint32) bool {
						if hash(at) != hash(number) {
							t.Fatalf("same is called with %d, whose hash is not that of %d", at, number)
						}
						if at == number {
							same++
						}
						return at == number
					})
					if ok != v.want[number] || ok != (same == 1) {
						t.Fatalf("%d is there: %v", number, ok)
					}
				}
			}
			r := rand.New(rand.NewPCG(35, 36))
			versions := []version{{want: map[uint32]bool{}}}
			for range 60 {
				from := versions[r.IntN(len(versions))]
				e, want := from.table.edit(), maps.Clone(from.want)
				for range r.IntN(200) {
					if number := r.Uint32N(600); want[number] {
						e.remove(hash(number), number)
						delete(want, number)
					} else {
						e.insert(hash(number), number)
						want[number] = true
					}
				}
				versions = append(versions, version{e.commit(), want})
			}
			for _, v := range versions {
				check(v)
			}
		})
	}
}

// TestHashTableDoesNotGrow: adding and removing entries, over and over, leaves a
// table as large as it was.
func TestHashTableDoesNotGrow(t *testing.T) {
	even := func(n uint32) uint32 { return n * 2654435769 }
	var empty hashTable
	e := empty.edit()
	const n = 3000
	for i := range uint32(n) {
		e.insert(even(i), i)
	}
	before := e.commit()
	if dir := 1 << before.depth; dir > n/16 {
		t.Errorf("a directory of %d for %d entries", dir, n)
	}
	for i := range uint32(20 * n) {
		e.remove(even(i), i)
		e.insert(even(i+n), i+n)
	}
	after := e.commit()
	for i := range uint32(1) << after.depth {
		if b := after.dir.Value(i); b.more != nil || after.depth > before.depth+1 {
			t.Fatalf("depth %d, before %d; bucket %d is followed by another one: %v", after.depth, before.depth, i, b.more != nil)
		}
	}
}

// TestHashTableCopiesOnce: an edit copies a bucket only at its first change.
func TestHashTableCopiesOnce(t *testing.T) {
	for name, n := range map[string]uint32{"one bucket": 10, "a second one": 60} {
		t.Run(name, func(t *testing.T) {
			same := func(uint32) uint32 { return 7 }
			var empty hashTable
			e := empty.edit()
			for i := range n {
				e.insert(same(i), i)
			}
			base := e.commit()
			edits := func(k uint32) float64 {
				return testing.AllocsPerRun(10, func() {
					e := base.edit()
					for range k {
						e.remove(same(n-1), n-1)
						e.insert(same(n-1), n-1)
					}
					e.commit()
				})
			}
			if one, ten := edits(1), edits(10); one != ten {
				t.Errorf("%v allocations for one change, %v for ten of the same place", one, ten)
			}
		})
	}
}
