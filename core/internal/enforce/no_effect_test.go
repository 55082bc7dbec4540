package enforce_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/enforce/enforcetest"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/fuzz"
	"github.com/meshmatch/meshmatch/fuzz/naive"
)

// What is said to have no effect can be removed without one, and the reverse for
// exclusions (SPEC 8.1): the reference evaluates random resources with and without it.
func TestNoEffectMeansNone(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 16))
	warned, silent := 0, 0
	for range 500 {
		world := enforcetest.World{}
		for c := enforcetest.NewChoices(fuzz.RandomBytes(random, 900)); c.More() && len(world) < 24; {
			r := c.Resource()
			world[r.Identity().ID] = r
		}
		numbered := map[int]ocm.Resource{}
		for i, id := range keys(world) {
			world[id].Identity().Pos.Line = i + 1
			if b, is := world[id].(*ocm.PlacementBinding); is {
				for s := range b.Subjects {
					b.Subjects[s].Pos.Line, b.Subjects[s].Path = i+1, fmt.Sprintf("subjects[%d]", s)
				}
			}
			numbered[i+1] = world[id]
		}
		found := map[string]bool{} // "LINE PATH"
		for _, w := range stateOf(world.Resources()).Warnings(nil) {
			if w.Code == diag.OverrideNoEffect || w.Code == diag.PlacesNothing {
				found[fmt.Sprint(w.Pos.Line, " ", w.Path)] = true
			}
		}
		for line, r := range numbered {
			switch r := r.(type) {
			case *ocm.PlacementBinding:
				if allSubjectsIn(found, line, r) {
					warned++
					plain := *r
					plain.Enforce = false
					if r.SubFilter { // without an override it binds nothing
						plain.Subjects = nil
					}
					sameActions(t, world, &plain, "the override of "+r.Name)
				}
			case *ocm.PolicySet:
				for i, e := range r.Exclusions {
					for j := range e.Clusters {
						without := withoutExclusion(r, i, j)
						if found[exclusionPlace(line, i, j)] {
							warned++
							sameActions(t, world, without, fmt.Sprintf("exclusion %d of %s", i, r.Name))
						} else if plain, places := setAlone(world, r, e.Policy); places && !repeated(found, line, r, i, j) {
							silent++
							before := actions(plain)
							plain[r.ID] = without
							if actions(plain) == before {
								t.Errorf("exclusions[%d].clusterNames[%d] of %+v has no effect, without a warning", i, j, r)
							}
						}
					}
				}
			}
		}
	}
	if warned < 200 || silent < 100 {
		t.Errorf("%d warnings and %d exclusions with an effect were compared: too few", warned, silent)
	}
	t.Logf("%d warnings, %d exclusions with an effect", warned, silent)
}

// allSubjectsIn reports whether the override has no effect on any subject.
func allSubjectsIn(found map[string]bool, line int, b *ocm.PlacementBinding) bool {
	return b.Enforce && !slices.ContainsFunc(b.Subjects, func(s ocm.Subject) bool {
		return s.Mesh || s.Kind == ocm.PolicySetKind || !found[fmt.Sprint(line, " ", s.Path)]
	})
}

func exclusionPlace(line, i, j int) string {
	return fmt.Sprintf("%d spec.exclusions[%d].clusterNames[%d]", line, i, j)
}

// repeated reports whether a warning is about the same cluster and policy at a later place.
func repeated(found map[string]bool, line int, s *ocm.PolicySet, i, j int) bool {
	for k, e := range s.Exclusions {
		for l, cluster := range e.Clusters {
			if e.Policy == s.Exclusions[i].Policy && cluster == s.Exclusions[i].Clusters[j] && found[exclusionPlace(line, k, l)] {
				return true
			}
		}
	}
	return false
}

func withoutExclusion(s *ocm.PolicySet, i, j int) *ocm.PolicySet {
	less := *s
	less.Exclusions = slices.Clone(s.Exclusions)
	less.Exclusions[i].Clusters = slices.Delete(slices.Clone(s.Exclusions[i].Clusters), j, j+1)
	return &less
}

// setAlone returns the world in which nothing but the bindings of a set place a policy that
// informs, and whether one does.
func setAlone(world enforcetest.World, s *ocm.PolicySet, policy string) (enforcetest.World, bool) {
	alone := maps.Clone(world)
	for id, r := range world {
		switch r := r.(type) {
		case *ocm.PolicySet:
			if r != s {
				delete(alone, id)
			}
		case *ocm.Policy:
			informs := *r
			informs.Action, informs.Disabled = ocm.Inform, false
			alone[id] = &informs
		case *ocm.PlacementBinding:
			plain := *r
			plain.Enforce, plain.SubFilter = false, false
			plain.Subjects = slices.DeleteFunc(slices.Clone(r.Subjects), func(x ocm.Subject) bool { return x.Kind != ocm.PolicySetKind || x.Name != s.Name })
			alone[id] = &plain
		}
	}
	all, nothing := maps.Clone(alone), maps.Clone(alone)
	whole := *s
	whole.Policies, whole.Exclusions = slices.DeleteFunc(slices.Clone(s.Policies), func(p string) bool { return p != policy }), nil
	all[s.ID] = &whole
	delete(nothing, s.ID)
	return alone, actions(all) != actions(nothing)
}

// sameActions checks that nothing is placed or enforced otherwise with less in place of
// what has its name.
func sameActions(t *testing.T, world enforcetest.World, less ocm.Resource, what string) {
	t.Helper()
	changed := maps.Clone(world)
	changed[less.Identity().ID] = less
	if before, after := actions(world), actions(changed); before != after {
		t.Errorf("%s is said to have no effect, but without it\n%s\nis\n%s", what, before, after)
	}
}

// actions returns where the reference places and enforces OCM's policies.
func actions(world enforcetest.World) string {
	var text strings.Builder
	for _, p := range naive.Placements(enforcetest.MeshSet(), world.Hub(), "m")["policies"].([]any) {
		entry := p.(map[string]any)
		if entry["kind"] != ocm.PolicyKind {
			continue
		}
		fmt.Fprintln(&text, entry["namespace"], entry["name"])
		for _, target := range entry["targets"].([]any) {
			target := target.(map[string]any)
			fmt.Fprintln(&text, "  ", target["cluster"], target["action"])
		}
	}
	return text.String()
}
