package match_test

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/match"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/internal/shape"
	"github.com/meshmatch/meshmatch/core/kind/meshtimeout"
)

// BenchmarkNewIndex makes the first index of the policies of a mesh.
func BenchmarkNewIndex(b *testing.B) {
	policies := shape.Fleet(meshtimeout.Kind(), 10_000)
	b.ReportAllocs()
	for b.Loop() {
		if x, err := match.NewIndex(policies, semantics.Reading{}); err != nil || x.Len() != len(policies) {
			b.Fatal(err)
		}
	}
}
