package snapshot

import (
	"maps"
	"math/rand/v2"
	"testing"
)

// Each version has what a copy of the whole map has, and later changes leave it as it is.
func TestServiceMap(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	version, want := serviceMap[int]{}, map[int]*service{}
	type kept struct {
		version serviceMap[int]
		want    map[int]*service
	}
	var all []kept
	for range 500 {
		changes := map[int]*service{}
		for range r.IntN(4) {
			changes[r.IntN(200)] = &service{}
		}
		version = version.with(changes)
		maps.Copy(want, changes)
		all = append(all, kept{version, maps.Clone(want)})
	}
	for i, k := range all {
		for key := range 201 {
			if k.version.get(key) != k.want[key] {
				t.Fatalf("version %d has another service %d", i, key)
			}
		}
		if n := len(k.version.recent); n*n > len(k.version.base) {
			t.Fatalf("version %d has %d entries in addition to %d", i, n, len(k.version.base))
		}
	}
}
