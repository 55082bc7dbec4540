package mesh

import (
	"fmt"
	"slices"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// A long list of outbounds that dataplanes share is hashed once. An equal
// list has the same hash, and a part of it has another one.
func TestHashOfSharedOutbounds(t *testing.T) {
	w := NewWriter("default", kinds.All(), semantics.Reading{})
	var shared []resource.Outbound
	for i := range 2 * manyOutbounds {
		shared = append(shared, resource.Outbound{Tags: resource.NewTags(map[string]string{resource.ServiceTag: fmt.Sprintf("s%d", i)})})
	}
	hash := w.hashOutbounds(shared)
	if n := testing.AllocsPerRun(10, func() { w.hashOutbounds(shared) }); n > 0 || len(w.hashed) != 1 {
		t.Errorf("a known list takes %v allocations; %d lists are known", n, len(w.hashed))
	}
	if w.hashOutbounds(slices.Clone(shared)) != hash {
		t.Error("an equal list has another hash")
	}
	if w.hashOutbounds(shared[:len(shared)-1]) == hash {
		t.Error("a part of the list has its hash")
	}
	for range 2 * maxHashedLists {
		w.hashOutbounds(slices.Clone(shared))
	}
	if len(w.hashed) > maxHashedLists {
		t.Errorf("%d lists are remembered", len(w.hashed))
	}
}
