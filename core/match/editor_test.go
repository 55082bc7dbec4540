package match_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core/match"
	"github.com/meshmatch/meshmatch/core/resource"
)

// randomTarget returns a targetRef over a small alphabet.
func randomTarget(r *rand.Rand) resource.TargetRef {
	version := []string{"version=v1", "version=v2", "version=*", "team=store"}[r.IntN(4)]
	name := []string{"web", "admin", "edge", "nobody"}[r.IntN(4)]
	switch r.IntN(8) {
	case 0:
		return resource.TargetRef{Kind: resource.TargetMesh, ProxyTypes: resource.ProxyTypes(r.IntN(4))}
	case 1:
		return resource.TargetRef{Kind: resource.TargetMeshSubset, Tags: tags(version)}
	case 2:
		return resource.TargetRef{Kind: resource.TargetMeshService, Name: name}
	case 3:
		return resource.TargetRef{Kind: resource.TargetMeshServiceSubset, Name: name, Tags: tags(version)}
	case 4:
		return resource.TargetRef{Kind: resource.TargetDataplane, Labels: tags("app=web"), SectionName: []string{"", "http", "81"}[r.IntN(3)]}
	case 5:
		return resource.TargetRef{Kind: resource.TargetDataplane, Name: []string{"web-1", "bare", "nobody"}[r.IntN(3)]}
	case 6:
		return resource.TargetRef{Kind: resource.TargetMeshHTTPRoute, Name: []string{"p1", "p2"}[r.IntN(2)], Namespace: []string{"", "x"}[r.IntN(2)]}
	}
	return resource.TargetRef{Kind: resource.TargetMeshGateway, Name: name}
}

func randomPolicy(r *rand.Rand) *resource.Policy {
	p := policy([]string{"MeshTimeout", "MeshHTTPRoute"}[r.IntN(2)], fmt.Sprintf("p%d", r.IntN(5)), randomTarget(r))
	p.Namespace = []string{"", "x"}[r.IntN(2)]
	if p.Kind == "MeshHTTPRoute" && p.TargetRef.Kind.IsRoute() {
		p.TargetRef = resource.TargetRef{Kind: resource.TargetMesh}
	}
	if r.IntN(4) == 0 {
		p.Labels = tags("kuma.io/effect=shadow")
	}
	return p
}

func names(selected []match.Selected, d *resource.Dataplane) []string {
	var out []string
	for _, s := range selected {
		line := s.Policy.Kind + " " + s.Policy.Namespace + "/" + s.Policy.Name
		for i := range d.Inbounds {
			if s.Inbounds.Has(i) {
				line += " " + d.Inbounds[i].SectionName()
			}
		}
		out = append(out, line)
	}
	return out
}

// Whatever edits led to it, an index answers like one of the same policies
// that is made at once, for dataplanes and for their classes; earlier versions
// stay; and what an edit reaches has all dataplanes for which anything changes.
func TestEditing(t *testing.T) {
	dataplanes := []*resource.Dataplane{web, gateway, bare}
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 11))
		x := match.Empty(nil)
		known := map[resource.ID]*resource.Policy{}
		population, classes := match.NewPopulation(), match.NewClasses()
		var buffer match.Buffer
		classOf := make([]*match.Class, len(dataplanes))
		for i, d := range dataplanes {
			population.Replace(uint32(i), nil, d)
			classOf[i] = classes.Of(x, d, &buffer)
		}
		for range 12 {
			e := x.Edit()
			for range 1 + r.IntN(3) {
				p := randomPolicy(r)
				if r.IntN(3) == 0 {
					if had := known[p.ID] != nil; e.Remove(p.ID) != had {
						t.Fatal("Remove told wrong")
					}
					delete(known, p.ID)
				} else {
					e.Put(p)
					known[p.ID] = p
				}
				if e.Policy(p.ID) != known[p.ID] {
					t.Fatal("the editor has another policy")
				}
			}
			next, delta, err := e.Commit()
			if err != nil {
				t.Fatal(err)
			}
			var policies []*resource.Policy
			for _, p := range known {
				policies = append(policies, p)
			}
			fresh, err := match.NewIndex(policies, nil)
			if err != nil {
				t.Fatal(err)
			}
			if next.Len() != len(known) || len(slices.Collect(next.All())) != len(known) {
				t.Fatalf("%d policies, want %d", next.Len(), len(known))
			}

			moved := population.Reached(delta, nil)
			for _, i := range moved {
				classOf[i] = classes.Of(next, dataplanes[i], &buffer)
			}
			reselected := classes.Reached(delta)
			for i, d := range dataplanes {
				for _, scope := range []match.Scope{match.Enforced, match.Shadow} {
					want := slices.Clone(fresh.Select(d, scope, &buffer))
					if diff := gocmp.Diff(names(want, d), names(next.Select(d, scope, &buffer), d)); diff != "" {
						t.Fatalf("seed %d: %s: %s", seed, d.Name, diff)
					}
					if diff := gocmp.Diff(names(want, d), names(next.SelectClass(classOf[i], scope, &buffer), d)); diff != "" {
						t.Fatalf("seed %d: class of %s: %s", seed, d.Name, diff)
					}
					before := slices.Clone(x.Select(d, scope, &buffer))
					same := slices.EqualFunc(before, want, func(a, b match.Selected) bool { return a.Equal(&b) })
					if !same && !slices.Contains(moved, uint32(i)) && !slices.Contains(reselected, classOf[i]) {
						t.Fatalf("seed %d: %s is selected by others, and not reached", seed, d.Name)
					}
					if replaced := delta.Replaced(); replaced != nil {
						for n := range before {
							if p := replaced[before[n].Policy]; p != nil {
								before[n].Policy = p
							}
						}
						if !slices.EqualFunc(before, want, func(a, b match.Selected) bool { return a.Equal(&b) }) {
							t.Fatalf("seed %d: %s is not what was told to be replaced", seed, d.Name)
						}
					}
				}
			}
			x = next
		}
	}
}

func TestClassesTellApartWhatSelectorsDo(t *testing.T) {
	x, err := match.NewIndex([]*resource.Policy{policy("K", "p", resource.TargetRef{Kind: resource.TargetMeshSubset, Tags: tags("version=v1")})}, nil)
	if err != nil {
		t.Fatal(err)
	}
	like := func(change func(*resource.Dataplane)) *resource.Dataplane {
		d := *web
		d.Inbounds = slices.Clone(web.Inbounds)
		change(&d)
		return &d
	}
	classes := match.NewClasses()
	var buffer match.Buffer
	class := classes.Of(x, web, &buffer)
	for name, c := range map[string]struct {
		dataplane *resource.Dataplane
		same      bool
	}{
		"another name":       {like(func(d *resource.Dataplane) { d.Name = "web-2" }), true},
		"another service":    {like(func(d *resource.Dataplane) { d.Inbounds[0].Tags = service("api", "version=v1") }), true},
		"another version":    {like(func(d *resource.Dataplane) { d.Inbounds[0].Tags = service("web", "version=v2") }), false},
		"inbounds exchanged": {like(func(d *resource.Dataplane) { slices.Reverse(d.Inbounds) }), false},
		"one inbound":        {like(func(d *resource.Dataplane) { d.Inbounds = d.Inbounds[:1] }), false},
		"no inbounds":        {like(func(d *resource.Dataplane) { d.Inbounds = nil }), false},
	} {
		if got := classes.Of(x, c.dataplane, &buffer) == class; got != c.same {
			t.Errorf("%s: same class %v, want %v", name, got, c.same)
		}
	}
	bareClass, one := classes.Of(x, bare, &buffer), classes.Of(x, like(func(d *resource.Dataplane) {
		d.Inbounds = []resource.Inbound{{Port: 1, Tags: service("api")}}
	}), &buffer)
	if bareClass == one {
		t.Error("a dataplane without inbounds is in the class of one with an inbound that nobody asks for")
	}
	n := classes.Len()
	classes.Drop(one)
	if classes.Len() != n-1 || classes.Of(x, bare, &buffer) != bareClass {
		t.Error("the wrong class was dropped")
	}
}

func TestCommitWithoutOrder(t *testing.T) {
	x, err := match.NewIndex([]*resource.Policy{policy("K", "a", resource.TargetRef{Kind: resource.TargetMesh})}, func(a, b *resource.Policy) int { return 0 })
	if err != nil {
		t.Fatal(err)
	}
	e := x.Edit()
	e.Put(policy("K", "b", resource.TargetRef{Kind: resource.TargetMesh}))
	if _, _, err := e.Commit(); !errors.Is(err, match.ErrNoOrder) {
		t.Errorf("got %v", err)
	}
	if x.Len() != 1 {
		t.Error("the index was changed")
	}
}
