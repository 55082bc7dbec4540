package snapshot_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/variant"
	"github.com/meshmatch/meshmatch/core/kind/meshcircuitbreaker"
	"github.com/meshmatch/meshmatch/core/kind/meshhttproute"
	"github.com/meshmatch/meshmatch/core/kind/meshloadbalancingstrategy"
	"github.com/meshmatch/meshmatch/core/kind/meshtimeout"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/translators"
	"github.com/meshmatch/meshmatch/core/xds/wire"
	"github.com/meshmatch/meshmatch/fuzz"
)

// A question is a locator.
type question struct {
	t          wire.Type
	name       string
	parameters variant.Parameters
}

// answer returns what answers a question, as text that is the same in each process.
func (q question) answer(s *snapshot.State) string {
	v, ok := s.Locate(q.t, q.name, q.parameters)
	if !ok || v.Resource == nil {
		return "none"
	}
	return fmt.Sprintf("%s with %q", v.Resource.Version, v.Constraints)
}

// variantLimits are the limits of the builder, and limits by which each destination with
// variants has too many.
var variantLimits = []struct{ variants, tuples int }{{256, 512}, {1, 512}, {1, 1}}

// The variant that answers a locator does not depend on what was asked before, of a locator
// or for a dataplane (SPEC 9.4): in random meshes the answers of a builder equal the
// answers of a new one for each question, in any order. The answers of one name are
// variants of one set (SPEC 9.3).
func TestAnswersOfLocatorsHaveNoHistory(t *testing.T) {
	g, err := fuzz.NewGenerator(resource.NewKinds(
		meshtimeout.Kind(), meshcircuitbreaker.Kind(), meshhttproute.Kind(), meshloadbalancingstrategy.Kind(),
	))
	if err != nil {
		t.Fatal(err)
	}
	seeds, constrained := uint64(60), 0
	if testing.Short() {
		seeds = 20
	}
	for seed := range seeds {
		random := rand.New(rand.NewPCG(seed, 12))
		scenario := g.Scenario(fuzz.RandomBytes(random, 2000))
		set, err := scenario.Load()
		if err != nil {
			t.Fatal(err)
		}
		view, err := core.Options{Semantics: core.TargetRef}.NewView(t.Context(), g.Kinds(), set)
		if err != nil {
			t.Fatal(err)
		}
		for _, limits := range variantLimits {
			constrained += compareOrders(t, random, view, translators.All(), limits.variants, limits.tuples)
		}
		if t.Failed() {
			t.Fatalf("seed %d:\n%s", seed, scenario.YAML())
		}
	}
	if constrained < int(seeds) {
		t.Errorf("%d answers have constraints: the meshes are too simple", constrained)
	}
}

// A build may ask for the tag of a client only if the client is in a zone. Whether another
// build has asked for it makes no difference.
func TestFacetsOfOtherBuilds(t *testing.T) {
	set, err := (&resource.Loader{Kinds: resource.NewKinds(meshloadbalancingstrategy.Kind())}).Decode(t.Context(), resource.Input{Name: "mesh.yaml", Data: []byte(`
{type: Dataplane, name: backend-1, labels: {kuma.io/zone: east}, networking: {address: 10.0.1.1, inbound: [{port: 80, tags: {kuma.io/service: backend, rack: r1}}]}}
---
{type: Dataplane, name: backend-2, labels: {kuma.io/zone: west}, networking: {address: 10.0.1.2, inbound: [{port: 80, tags: {kuma.io/service: backend, rack: r2}}]}}
---
{type: Dataplane, name: client-1, labels: {kuma.io/zone: east}, networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: web, rack: r1}}], outbound: [{port: 1, tags: {kuma.io/service: backend}}]}}
---
{type: Dataplane, name: client-2, labels: {kuma.io/zone: west}, networking: {address: 10.0.0.2, inbound: [{port: 80, tags: {kuma.io/service: web, rack: r2}}], outbound: [{port: 1, tags: {kuma.io/service: backend}}]}}
---
{type: MeshLoadBalancingStrategy, name: near, spec: {to: [{targetRef: {kind: Mesh}, default: {localityAwareness: {localZone: {affinityTags: [{key: rack}]}}}}]}}
`)})
	if err != nil {
		t.Fatal(err)
	}
	view, err := core.Options{Semantics: core.TargetRef}.NewView(t.Context(), resource.NewKinds(meshloadbalancingstrategy.Kind()), set)
	if err != nil {
		t.Fatal(err)
	}
	own := xds.Translator{
		Kind: "MeshLoadBalancingStrategy",
		Endpoints: func(d *xds.Endpoints, _ *results.Effective) {
			if zone := d.Zone(); zone == "east" {
				d.Localities = []xds.Locality{{Zone: zone, SubZone: d.Tag("rack"), Weight: 1, Endpoints: d.All}}
			}
		},
		Zones: func(resource.Conf) []string { return nil },
		Tags:  func(resource.Conf) []string { return []string{"rack"} },
	}
	for seed := range uint64(20) {
		for _, limits := range variantLimits {
			if n := compareOrders(t, rand.New(rand.NewPCG(seed, 13)), view, []xds.Translator{own}, limits.variants, limits.tuples); n == 0 {
				t.Error("no answer has constraints")
			}
		}
	}
}

// compareOrders asks about the outbounds of a view in random orders, and returns how many
// answers have constraints.
func compareOrders(t *testing.T, random *rand.Rand, view *core.View, list []xds.Translator, variants, tuples int) (constrained int) {
	t.Helper()
	newState := func() *snapshot.State {
		b := snapshot.NewBuilder(list, snapshot.Options{})
		b.LimitVariants(variants, tuples)
		return b.At(view)
	}
	var questions []question
	var dataplanes []*resource.Dataplane
	for _, mesh := range view.Meshes() {
		for _, d := range view.Dataplanes(mesh) {
			dataplanes = append(dataplanes, d)
			p := variant.ParametersOf(d, 0)
			if len(p) == 0 {
				continue
			}
			without := maps.Clone(p)
			delete(without, slices.Sorted(maps.Keys(p))[random.IntN(len(p))])
			stranger := maps.Clone(p)
			stranger[variant.LabelKey(resource.ZoneTag)] = "unknown"
			for i := range d.Outbounds[:min(2, len(d.Outbounds))] {
				name := variant.Destination{Mesh: mesh, Tags: d.Outbounds[i].Tags}.Name()
				for _, p := range []variant.Parameters{p, without, stranger} {
					for _, kind := range []wire.Type{wire.ClusterType, wire.EndpointType, wire.RouteType} {
						questions = append(questions, question{kind, name, p})
					}
				}
			}
		}
	}
	random.Shuffle(len(questions), func(i, j int) { questions[i], questions[j] = questions[j], questions[i] })
	questions = questions[:min(len(questions), 60)]

	want := make([]string, len(questions))
	sets := map[string]map[string]variant.Constraint{} // by type and name, by constraints
	for i, q := range questions {
		fresh := newState()
		want[i] = q.answer(fresh)
		v, _ := fresh.Locate(q.t, q.name, q.parameters)
		if v.Constraints == "" {
			continue
		}
		constrained++
		var m variant.Proto
		if err := proto.Unmarshal([]byte(v.Constraints), &m); err != nil {
			t.Fatal(err)
		}
		c, err := variant.FromProto(&m)
		if err != nil {
			t.Fatal(err)
		}
		if !c.Accepts(q.parameters) {
			t.Errorf("%v: the constraint is %s", q, c)
		}
		of := fmt.Sprint(q.t, " ", q.name)
		if sets[of] == nil {
			sets[of] = map[string]variant.Constraint{}
		}
		sets[of][v.Constraints] = c
	}
	for of, constraints := range sets {
		if _, err := variant.NewSet(slices.Collect(maps.Values(constraints))); err != nil {
			t.Errorf("limits %d, %d: the answers about %s are no set: %v", variants, tuples, of, err)
		}
	}
	state := newState()
	for _, i := range random.Perm(len(questions)) {
		if random.IntN(3) == 0 {
			state.Snapshot(dataplanes[random.IntN(len(dataplanes))], xds.Envoy)
		}
		if got := questions[i].answer(state); got != want[i] {
			t.Errorf("limits %d, %d: %v is answered by %s, and by a new builder %s", variants, tuples, questions[i], got, want[i])
		}
	}
	return constrained
}
