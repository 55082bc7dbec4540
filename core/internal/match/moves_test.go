package match_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/match"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
)

// A dataplane that an edit of policies reaches comes to the class that all of its facts give
// it, though the class was found for another dataplane.
func TestMoves(t *testing.T) {
	for _, s := range []semantics.Semantics{semantics.TargetRef, semantics.Kuma} {
		moved, shared := 0, 0
		for seed := range uint64(300) {
			r := rand.New(rand.NewPCG(seed, 0))
			var buffer match.Buffer
			x := match.Empty(semantics.Reading{Semantics: s})
			known, classes := match.NewDataplaneIndex(s), match.NewClasses[struct{}]()
			dataplanes := make([]*resource.Dataplane, 20)
			class := make([]*match.Class[struct{}], len(dataplanes))
			for i := range dataplanes {
				dataplanes[i] = randomDataplane(r, fmt.Sprintf("d%d", i))
				if i > 0 && r.IntN(2) == 0 { // several in a class
					twin := *dataplanes[i-1]
					twin.Name = fmt.Sprintf("d%d", i)
					dataplanes[i] = &twin
				}
				known.Replace(uint32(i), nil, dataplanes[i])
				class[i] = classes.Classify(x, dataplanes[i], &buffer)
			}
			for range 5 {
				e := x.Edit()
				for range 1 + r.IntN(3) {
					if p := randomPolicy(r); r.IntN(3) == 0 {
						e.Remove(p.ID)
					} else {
						e.Put(p)
					}
				}
				next, delta, err := e.Commit()
				if err != nil {
					t.Fatal(err)
				}
				x = next
				moves, found := classes.MovesTo(x, delta), map[*match.Class[struct{}]]bool{}
				for _, i := range known.Reached(delta, nil) {
					d := dataplanes[i]
					from := class[i]
					class[i] = moves.Classify(from, d, &buffer)
					if want := classes.Classify(x, d, &buffer); class[i] != want {
						t.Fatalf("seed %d, %s: %s moves to another class than its facts give it", seed, s, d.Name)
					}
					if class[i] != from {
						moved++
						if found[class[i]] {
							shared++
						}
						found[class[i]] = true
					}
				}
			}
		}
		if moved < 1000 || shared < 100 {
			t.Errorf("%s: %d moves, %d of them to a class that was found before", s, moved, shared)
		}
	}
}
