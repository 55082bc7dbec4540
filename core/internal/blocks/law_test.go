package blocks_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/fuzz"
)

// confsOf returns confs of every section of every kind, from random scenarios.
func confsOf(t *testing.T, all *resource.Kinds, scenarios uint64) map[*resource.Section][]resource.Conf {
	t.Helper()
	generator, err := fuzz.NewGenerator(all)
	if err != nil {
		t.Fatal(err)
	}
	confs := map[*resource.Section][]resource.Conf{}
	for seed := range scenarios {
		random := rand.New(rand.NewPCG(seed, 2))
		set, err := generator.Scenario(fuzz.RandomBytes(random, 300)).Load()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range set.Policies {
			for i := range p.To {
				confs[p.Type.To] = append(confs[p.Type.To], p.To[i].Conf)
			}
			for i := range p.From {
				confs[p.Type.From] = append(confs[p.Type.From], p.From[i].Conf)
			}
			for i := range p.Rules {
				confs[p.Type.Rules] = append(confs[p.Type.Rules], p.Rules[i].Conf)
			}
			if p.Default != nil {
				confs[p.Type.Default] = append(confs[p.Type.Default], p.Default)
			}
		}
	}
	return confs
}

// Package blocks relies on this law for confs without unions: merging the origins
// alone gives the same conf as merging all items, even together with further items.
func TestOriginsAreEnough(t *testing.T) {
	all := kinds.All()
	without := 0
	for section, confs := range confsOf(t, all, 400) {
		if section.Conf.HasUnion() {
			continue
		}
		without++
		random := rand.New(rand.NewPCG(3, 4))
		for range 3_000 {
			items := make([]results.Contribution, 1+random.IntN(6))
			for i := range items {
				items[i] = results.Contribution{
					Origin: results.Origin{Policy: &resource.Policy{}, Index: i},
					Conf:   confs[random.IntN(len(confs))],
				}
			}
			whole := results.Merge(section.Conf, items)
			assertSame(t, section, items, whole, origins(whole, items))

			// Some items are merged first, and only the origins among them are kept.
			var first, later []results.Contribution
			for _, item := range items {
				if random.IntN(2) == 0 {
					first = append(first, item)
				} else {
					later = append(later, item)
				}
			}
			if len(first) > 0 {
				kept := append(origins(results.Merge(section.Conf, first), items), later...)
				slices.SortFunc(kept, func(a, b results.Contribution) int { return a.Index - b.Index })
				assertSame(t, section, items, whole, kept)
			}
		}
	}
	if without < 5 {
		t.Errorf("only %d sections have no union", without)
	}
}

// origins returns the items, identified by their index, that are origins.
func origins(e *results.Effective, items []results.Contribution) []results.Contribution {
	var kept []results.Contribution
	for _, o := range e.Origins {
		kept = append(kept, items[o.Index])
	}
	return kept
}

func assertSame(t *testing.T, section *resource.Section, items []results.Contribution, whole *results.Effective, kept []results.Contribution) {
	t.Helper()
	if len(kept) == 0 {
		if len(whole.Origins) > 0 {
			t.Fatal("origins without contributions")
		}
		return
	}
	part := results.Merge(section.Conf, kept)
	if !section.Conf.Equal(whole.Conf, part.Conf) || !slices.Equal(whole.Origins, part.Origins) {
		var confs []string
		for _, i := range items {
			confs = append(confs, text(t, i.Conf))
		}
		t.Fatalf("merging %q gives %s by %v, merging the origins gives %s by %v", confs, text(t, whole.Conf), whole.Origins, text(t, part.Conf), part.Origins)
	}
}

func text(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
