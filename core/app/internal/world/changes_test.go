package world

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core"
)

// BenchmarkChange applies the changes of `benchworld` to a fleet, so that
// benchgate compares them with another revision. Making the batch, and undoing it where a
// change needs that, are not in the times. Changes that remove a dataplane, or that apply to
// a random number of them, are left to the command: they cannot be repeated without end.
func BenchmarkChange(b *testing.B) {
	w := newWorld(Options{Shape: Shapes()[0], Dataplanes: cohort * teams, Policies: 1_000, Outbounds: 10})
	if _, err := w.engine.Apply(b.Context(), core.Batch{Upsert: w.set}); err != nil {
		b.Fatal(err)
	}
	for _, c := range changes() {
		if c.once {
			continue
		}
		if c.setup != nil {
			if _, err := w.engine.Apply(b.Context(), c.setup(w)); err != nil {
				b.Fatal(err)
			}
		}
		round := 0
		b.Run(fmt.Sprintf("change=%s/dataplanes=%d", strings.ReplaceAll(c.name, " ", "-"), w.Dataplanes), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				round++
				if c.revert != nil {
					if _, err := w.engine.Apply(b.Context(), c.revert(w)); err != nil {
						b.Fatal(err)
					}
				}
				batch := c.batch(w, round)
				b.StartTimer()
				if _, err := w.engine.Apply(b.Context(), batch); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
