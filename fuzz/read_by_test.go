package fuzz

import (
	"testing"

	"github.com/meshmatch/meshmatch/core"
)

// Scenarios that Kuma reads lack what Kuma refuses, and no more: an engine accepts them, and
// most of their documents remain. Without it some would be refused.
func TestReadBy(t *testing.T) {
	all := generator(t).WithKumaLabels().WithDestinations()
	for _, by := range []core.Semantics{core.TargetRef, core.Kuma, core.Kuma3} {
		t.Run(by.String(), func(t *testing.T) {
			accepts := func(s *Scenario) error {
				set, err := s.Load()
				if err == nil {
					_, err = core.Options{Semantics: by}.NewView(t.Context(), s.Kinds(), set)
				}
				return err
			}
			g, kept, refused := all.ReadBy(by), 0, 0
			for seed := range uint64(300) {
				s, whole := g.Seeded(seed), all.Seeded(seed)
				if err := accepts(s); err != nil {
					t.Fatalf("scenario %d: %v\n%s", seed, err, s.YAML())
				}
				if lacks := len(s.documents) < len(whole.documents); lacks != (accepts(whole) != nil) {
					t.Fatalf("scenario %d has %d of %d documents, but whole: %v", seed, len(s.documents), len(whole.documents), accepts(whole))
				}
				kept, refused = kept+len(s.documents), refused+s.refused
			}
			if share := float64(refused) / float64(kept+refused); share > 0.1 || (refused == 0) != (by == core.TargetRef) {
				t.Errorf("%d documents are refused, %d are kept", refused, kept)
			}
		})
	}
}
