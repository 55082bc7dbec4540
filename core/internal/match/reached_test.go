package match_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/match"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
)

// fleet returns n dataplanes of one team, each with a different service.
func fleet(n int) []*resource.Dataplane {
	var out []*resource.Dataplane
	for i := range n {
		out = append(out, &resource.Dataplane{
			Meta:     resource.Meta{ID: resource.ID{Name: fmt.Sprintf("d%d", i)}},
			Inbounds: []resource.Inbound{{Port: 80, Tags: service(fmt.Sprintf("s%d", i), "team=t")}},
		})
	}
	return out
}

// The cost of a change to many policies is proportional to the dataplanes that it
// reaches; there is no pass over the mesh for each policy.
func TestReachedCosts(t *testing.T) {
	const n = 500
	for name, second := range map[string]func(i int) resource.TargetRef{
		"the same for all": func(int) resource.TargetRef {
			return resource.TargetRef{Kind: resource.TargetMeshSubset, Tags: tags("team=t")}
		},
		"one of few and one of many": func(i int) resource.TargetRef {
			return resource.TargetRef{Kind: resource.TargetMeshServiceSubset, Name: fmt.Sprintf("s%d", i), Tags: tags("team=t")}
		},
	} {
		t.Run(name, func(t *testing.T) {
			var policies []*resource.Policy
			for i := range n {
				policies = append(policies,
					policy("MeshTimeout", fmt.Sprintf("own%d", i), resource.TargetRef{Kind: resource.TargetMeshService, Name: fmt.Sprintf("s%d", i)}),
					policy("MeshTimeout", fmt.Sprintf("team%d", i), second(i)))
			}
			var buffer match.Buffer
			dataplaneIndex, classes := match.NewDataplaneIndex(semantics.TargetRef), match.NewClasses[struct{}]()
			for i, d := range fleet(n) {
				dataplaneIndex.Replace(uint32(i), nil, d)
			}
			e := match.Empty(semantics.Reading{}).Edit()
			for _, p := range policies {
				e.Put(p)
			}
			x, delta, err := e.Commit()
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range fleet(n) {
				classes.Classify(x, d, &buffer)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			dataplanes, reached := dataplaneIndex.Reached(delta, nil), classes.Reached(delta)
			runtime.ReadMemStats(&after)
			if len(dataplanes) != n || len(reached) != n {
				t.Errorf("%d dataplanes and %d classes reached, want %d", len(dataplanes), len(reached), n)
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > 100*n {
				t.Errorf("finding %d of each allocates %d bytes", n, took)
			}
		})
	}
}

// The classes that a change reaches are exact: they are the cost of a change.
func TestReachedIsExact(t *testing.T) {
	subset := func(pairs ...string) resource.TargetRef {
		return resource.TargetRef{Kind: resource.TargetMeshSubset, Tags: tags(pairs...)}
	}
	route := func(namespace, svc string) *resource.Policy {
		p := policy("MeshHTTPRoute", "r", resource.TargetRef{Kind: resource.TargetMeshService, Name: svc})
		p.Namespace = namespace
		return p
	}
	base := []*resource.Policy{
		policy("MeshTimeout", "s0", resource.TargetRef{Kind: resource.TargetMeshService, Name: "s0"}),
		policy("MeshTimeout", "s1", resource.TargetRef{Kind: resource.TargetMeshService, Name: "s1"}),
		policy("MeshTimeout", "s2", resource.TargetRef{Kind: resource.TargetMeshService, Name: "s2"}),
		policy("MeshTimeout", "team", subset("team=t", "kuma.io/service=s1")),
		policy("MeshTimeout", "attached", resource.TargetRef{Kind: resource.TargetMeshHTTPRoute, Name: "r"}),
		route("", "s0"), route("x", "s2"),
	}
	again := func(i int) *resource.Policy { p := *base[i]; return &p }
	for _, c := range []struct {
		name       string
		edit       func(e *match.Editor)
		dataplanes []uint32 // those that change class
		classes    []string // identified by a dataplane in the class; nil: all
		replaced   bool
	}{
		{"nothing", func(*match.Editor) {}, nil, []string{}, true},
		{"new confs", func(e *match.Editor) { e.Put(again(1)) }, nil, []string{"d1"}, true},
		{"new confs, twice", func(e *match.Editor) { e.Put(again(1)); e.Put(again(1)) }, nil, []string{"d1"}, false},
		{"the rarest fact leads, the others are verified", func(e *match.Editor) { e.Put(again(3)) }, nil, []string{"d1"}, true},
		{"a policy of the mesh", func(e *match.Editor) {
			e.Put(policy("MeshTimeout", "all", resource.TargetRef{Kind: resource.TargetMesh}))
		}, nil, []string{"d0", "d1", "d2", "d3"}, false},
		{"a fact that no selector required", func(e *match.Editor) {
			e.Put(policy("MeshTimeout", "s3", resource.TargetRef{Kind: resource.TargetMeshService, Name: "s3"}))
		}, []uint32{3}, []string{}, false},
		{"a fact that no selector requires any more", func(e *match.Editor) { e.Remove(base[0].ID); e.Remove(base[5].ID) }, []uint32{0}, []string{"d0"}, false},
		{"two facts that no dataplane has together", func(e *match.Editor) {
			e.Put(policy("MeshTimeout", "p", resource.TargetRef{Kind: resource.TargetMeshServiceSubset, Name: "s0", Tags: service("s1")}))
		}, nil, []string{}, false},
		{"a route with new confs", func(e *match.Editor) { e.Put(again(5)) }, nil, []string{"d0"}, false},
		{"a policy that selects no dataplane", func(e *match.Editor) {
			e.Put(policy("MeshTimeout", "p", subset("team=t", "kuma.io/service=missing")))
		}, nil, []string{}, false},
		{"another policy with the same selector", func(e *match.Editor) {
			e.Put(policy("MeshTimeout", "p", resource.TargetRef{Kind: resource.TargetMeshService, Name: "s2"}))
		}, nil, []string{"d2"}, false},
		{"attached to routes of both namespaces", func(e *match.Editor) { e.Put(again(4)) }, nil, []string{"d0", "d2"}, false},
		{"no longer attached", func(e *match.Editor) { e.Remove(base[4].ID) }, nil, []string{"d0", "d2"}, false},
		{"attached to a route that is added too", func(e *match.Editor) {
			e.Remove(base[4].ID)
			e.Remove(base[5].ID)
			e.Put(route("y", "s1"))
		}, nil, []string{"d0", "d1", "d2"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			x, err := match.NewIndex(base, semantics.Reading{})
			if err != nil {
				t.Fatal(err)
			}
			var buffer match.Buffer
			dataplaneIndex, classes := match.NewDataplaneIndex(semantics.TargetRef), match.NewClasses[struct{}]()
			of := map[*match.Class[struct{}]]string{}
			for i, d := range fleet(4) {
				dataplaneIndex.Replace(uint32(i), nil, d)
				of[classes.Classify(x, d, &buffer)] = d.Name
			}
			e := x.Edit()
			c.edit(e)
			_, delta, err := e.Commit()
			if err != nil {
				t.Fatal(err)
			}
			if got := dataplaneIndex.Reached(delta, []uint32{9}); got[0] != 9 || !slices.Equal(got[1:], c.dataplanes) {
				t.Errorf("dataplanes %v, want 9 and %v", got, c.dataplanes)
			}
			got := []string{}
			for _, class := range classes.Reached(delta) {
				got = append(got, of[class])
			}
			if !slices.Equal(got, c.classes) {
				t.Errorf("classes of %v, want %v", got, c.classes)
			}
			if (delta.Replaced() != nil) != c.replaced {
				t.Errorf("only confs changed: %v", !c.replaced)
			}
		})
	}
}

// Dropped classes are not reached, and their numbers are reused.
func TestClassesAreReused(t *testing.T) {
	var policies []*resource.Policy
	for i := range 10 {
		policies = append(policies, policy("MeshTimeout", fmt.Sprintf("p%d", i), resource.TargetRef{Kind: resource.TargetMeshService, Name: fmt.Sprintf("s%d", i)}))
	}
	x, err := match.NewIndex(policies, semantics.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	var buffer match.Buffer
	classes := match.NewClasses[struct{}]()
	dataplanes := fleet(10)
	for round := range 5 {
		var made []*match.Class[struct{}]
		for i, d := range dataplanes {
			c := classes.Classify(x, d, &buffer)
			if classes.Classify(x, d, &buffer) != c {
				t.Fatal("a dataplane is in two classes")
			}
			if made = append(made, c); int(c.Number()) >= len(dataplanes) || classes.Len() != i+1 {
				t.Fatalf("round %d: class %d of %d", round, c.Number(), classes.Len())
			}
		}
		for _, c := range made {
			classes.Drop(c)
		}
	}
	e := x.Edit()
	e.Put(policy("MeshTimeout", "all", resource.TargetRef{Kind: resource.TargetMesh}))
	for _, p := range policies {
		e.Remove(p.ID)
	}
	_, delta, err := e.Commit()
	if err != nil {
		t.Fatal(err)
	}
	if reached := classes.Reached(delta); len(reached) != 0 {
		t.Errorf("%d classes that were dropped are reached", len(reached))
	}
}

// A dataplane is found by its present facts, not by previous ones.
func TestDataplaneIndexForgets(t *testing.T) {
	dataplaneIndex := match.NewDataplaneIndex(semantics.TargetRef)
	before, after := fleet(2)[0], fleet(2)[1]
	dataplaneIndex.Replace(3, nil, before)
	dataplaneIndex.Replace(3, before, after)
	for svc, want := range map[string][]uint32{"s0": nil, "s1": {3}} {
		e := match.Empty(semantics.Reading{}).Edit()
		e.Put(policy("MeshTimeout", "p", resource.TargetRef{Kind: resource.TargetMeshService, Name: svc}))
		_, delta, err := e.Commit()
		if err != nil {
			t.Fatal(err)
		}
		if got := dataplaneIndex.Reached(delta, nil); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", svc, got, want)
		}
	}
}

// The class of a changed dataplane is known by the difference alone if no selector requires
// anything of it, and not if anything else of a class differs.
func TestSameClass(t *testing.T) {
	x, err := match.NewIndex([]*resource.Policy{policy("MeshTimeout", "p", resource.TargetRef{Kind: resource.TargetDataplane, Labels: tags("app=web")})}, semantics.Reading{Semantics: semantics.TargetRef})
	if err != nil {
		t.Fatal(err)
	}
	dataplane := func(edit func(d *resource.Dataplane)) *resource.Dataplane {
		d := &resource.Dataplane{Address: "10.0.0.1", Inbounds: []resource.Inbound{{Name: "a", Port: 80, Address: "10.0.0.1"}, {Name: "b", Port: 80, Address: "10.0.0.2"}}}
		d.Name, d.Labels = "d", tags("app=web", "revision=1")
		edit(d)
		return d
	}
	old := dataplane(func(*resource.Dataplane) {})
	for name, c := range map[string]struct {
		edit func(d *resource.Dataplane)
		same bool
	}{
		"the address":                      {func(d *resource.Dataplane) { d.Address = "10.0.0.9" }, true},
		"a label that no selector has":     {func(d *resource.Dataplane) { d.Labels = tags("app=web", "revision=2") }, true},
		"one more label":                   {func(d *resource.Dataplane) { d.Labels = tags("app=web", "revision=1", "x=1") }, true},
		"a tag that no selector has":       {func(d *resource.Dataplane) { d.Inbounds[0].Tags = tags("x=1") }, true},
		"a label that a selector requires": {func(d *resource.Dataplane) { d.Labels = tags("app=api", "revision=1") }, false},
		"one inbound less":                 {func(d *resource.Dataplane) { d.Inbounds = d.Inbounds[:1] }, false},
		"inbounds share a listener":        {func(d *resource.Dataplane) { d.Inbounds[1].Address = "10.0.0.1" }, false},
		"a gateway":                        {func(d *resource.Dataplane) { d.Inbounds, d.Gateway = nil, &resource.GatewayProxy{Builtin: true} }, false},
	} {
		known := match.NewDataplaneIndex(semantics.TargetRef)
		next := dataplane(c.edit)
		known.Replace(0, nil, old)
		if same := x.SameClass(old, next, known.Replace(0, old, next)); same != c.same {
			t.Errorf("%s: %v", name, same)
		}
	}
}
