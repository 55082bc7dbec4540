package xds_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/variant"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/translators"
	"github.com/meshmatch/meshmatch/fuzz"
)

// A locator with the parameters of a dataplane with one inbound chooses what the
// dataplane gets by name (SPEC 12.4), in random meshes, also for a dataplane that is
// not there.
func TestLocatorsChooseWhatDataplanesGet(t *testing.T) {
	g, err := fuzz.NewGenerator(kinds.All())
	if err != nil {
		t.Fatal(err)
	}
	compared, variants := 0, 0
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 11))
		data := make([]byte, 2000)
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		scenario := g.Scenario(data)
		set, err := scenario.Load()
		if err != nil {
			t.Fatal(err)
		}
		view, err := core.NewView(kinds.All(), set)
		if err != nil {
			t.Fatal(err)
		}
		state := xds.NewBuilder(translators.All(), xds.Options{Audit: true}).At(view)
		for _, mesh := range view.Meshes() {
			for _, d := range view.Dataplanes(mesh) {
				for _, like := range []*resource.Dataplane{d, stranger(d)} {
					if len(like.Inbounds) != 1 || like.Gateway != nil {
						continue
					}
					c, v := compareLocators(t, state, like)
					compared, variants = compared+c, variants+v
				}
			}
		}
		if t.Failed() {
			t.Fatalf("seed %d:\n%s", seed, scenario.YAML())
		}
	}
	if compared < 200 || variants < 20 {
		t.Errorf("%d resources were compared, %d of them variants: the meshes are too simple", compared, variants)
	}
}

// stranger returns a dataplane with the first inbound of another one, without labels.
func stranger(d *resource.Dataplane) *resource.Dataplane {
	s := *d
	s.Name, s.Labels = "stranger", nil
	s.Inbounds = s.Inbounds[:min(1, len(s.Inbounds))]
	return &s
}

// compareLocators compares the resources that dataplanes share, and returns their
// number and the number of those that have constraints.
func compareLocators(t *testing.T, state *xds.State, d *resource.Dataplane) (compared, variants int) {
	t.Helper()
	snapshot := state.Snapshot(d, false)
	p := variant.ParametersOf(d, 0)
	for i := range d.Outbounds {
		name := variant.Destination{Mesh: d.Mesh, Tags: d.Outbounds[i].Tags}.Name()
		for _, kind := range []xds.Type{xds.ClusterType, xds.EndpointType, xds.RouteType} {
			var want *xds.Resource
			at := slices.IndexFunc(snapshot.Resources(kind), func(r *xds.Resource) bool { return r.Name == name })
			if at >= 0 {
				want = snapshot.Resources(kind)[at]
			}
			got, ok := state.Locate(kind, name, p)
			if got.Resource != want || ok && got.Resource == nil && want != nil {
				t.Errorf("dataplane %s, %s %s: a locator chooses %+v, by name it is %+v", d.ID, kind.URL(), name, got.Resource, want)
			}
			compared++
			if got.Constraints != "" {
				variants++
			}
		}
	}
	return compared, variants
}
