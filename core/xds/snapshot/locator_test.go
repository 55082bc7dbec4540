package snapshot_test

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/coretest"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/internal/variant"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/kind/meshcircuitbreaker"
	"github.com/meshmatch/meshmatch/core/kind/meshhttproute"
	"github.com/meshmatch/meshmatch/core/kind/meshloadbalancingstrategy"
	"github.com/meshmatch/meshmatch/core/kind/meshproxypatch"
	"github.com/meshmatch/meshmatch/core/kind/meshtimeout"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/translators"
	"github.com/meshmatch/meshmatch/core/xds/wire"
	"github.com/meshmatch/meshmatch/fuzz"
)

// A locator with the parameters of a dataplane with one inbound chooses what the
// dataplane gets by name (SPEC 12.4), in random meshes, even for a dataplane that is
// not there, by each semantics that has service tags.
func TestLocatorsChooseWhatDataplanesGet(t *testing.T) {
	for _, as := range []semantics.Semantics{semantics.TargetRef, semantics.Kuma} {
		t.Run(as.String(), func(t *testing.T) { testLocatorsChooseWhatDataplanesGet(t, as) })
	}
}

func testLocatorsChooseWhatDataplanesGet(t *testing.T, as semantics.Semantics) {
	g, err := fuzz.NewGenerator(resource.NewKinds( // those that shape what dataplanes share
		meshtimeout.Kind(), meshcircuitbreaker.Kind(), meshhttproute.Kind(), meshloadbalancingstrategy.Kind(), meshproxypatch.Kind(),
	))
	if err != nil {
		t.Fatal(err)
	}
	if as != semantics.TargetRef {
		g = g.WithKumaLabels().ReadBy(as)
	}
	compared, variants := 0, 0
	for seed := range uint64(120) {
		random := rand.New(rand.NewPCG(seed, 11))
		scenario := g.Scenario(fuzz.RandomBytes(random, 2000))
		set, err := scenario.Load()
		if err != nil {
			t.Fatal(err)
		}
		view, err := core.Options{Semantics: cmp.Or(as, core.TargetRef)}.NewView(t.Context(), g.Kinds(), set)
		if err != nil {
			t.Fatal(err)
		}
		state := snapshot.NewBuilder(translators.All(), snapshot.Options{Audit: true}).At(view)
		for _, mesh := range view.Meshes() {
			for _, d := range view.Dataplanes(mesh) {
				for _, like := range []*resource.Dataplane{d, stranger(d)} {
					if len(like.Inbounds) != 1 || len(like.Listeners) > 0 || like.Gateway != nil {
						continue
					}
					for _, client := range append(xds.Envoys(), xds.Client{Type: xds.ProxylessGRPC}) {
						c, v := compareLocators(t, state, like, client)
						compared, variants = compared+c, variants+v
					}
				}
			}
		}
		if t.Failed() {
			t.Fatalf("seed %d:\n%s", seed, scenario.YAML())
		}
	}
	if compared < 2800 || variants < 28 {
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
func compareLocators(t *testing.T, state *snapshot.State, d *resource.Dataplane, client xds.Client) (compared, variants int) {
	t.Helper()
	snapshot := state.SnapshotFor(d, client)
	p := variant.ParametersOf(d, 0)
	for i := range d.Outbounds {
		name := variant.Destination{Mesh: d.Mesh, Tags: d.Outbounds[i].Tags}.Name()
		for _, kind := range []wire.Type{wire.ClusterType, wire.EndpointType, wire.RouteType} {
			var want *wire.Resource
			at := slices.IndexFunc(snapshot.Resources(kind), func(r *wire.Resource) bool { return r.Name == name })
			if at >= 0 {
				want = snapshot.Resources(kind)[at]
			}
			got, ok := state.LocateFor(client, kind, name, p)
			if got.Resource != want || ok && got.Resource == nil && want != nil {
				t.Errorf("dataplane %s of %+v, %s %s: a locator chooses %+v, by name it is %+v", d.ID, client, kind.URL(), name, got.Resource, want)
			}
			compared++
			if got.Constraints != "" {
				variants++
			}
		}
	}
	return compared, variants
}

// What makes a variant: policies by tags and labels, the identity of the client, its
// zone, and the values of its tags where endpoints are preferred by them.
func TestVariantsOfADestination(t *testing.T) {
	const mesh = `
type: MeshIdentity
mesh: default
name: shop
spec:
  selector: {dataplane: {matchLabels: {app: shop}}}
  provider: {type: Spire, spire: {}}
---
type: Dataplane
mesh: default
name: backend-1
labels: {kuma.io/zone: east, app: shop}
networking: {address: 10.0.1.1, inbound: [{port: 80, tags: {kuma.io/service: backend, kuma.io/protocol: http, rack: r1}}]}
---
type: Dataplane
mesh: default
name: backend-2
labels: {kuma.io/zone: west}
networking: {address: 10.0.1.2, inbound: [{port: 80, tags: {kuma.io/service: backend, kuma.io/protocol: http, rack: r2}}]}
---
type: Dataplane
mesh: default
name: client
labels: {kuma.io/zone: east}
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web, kuma.io/protocol: http}}]
  outbound: [{port: 10001, tags: {kuma.io/service: backend}}]
---
`
	timeout := `{type: MeshTimeout, mesh: default, name: slow, spec: {targetRef: {kind: MeshSubset, tags: {team: slow}}, to: [{targetRef: {kind: Mesh}, default: {connectionTimeout: 9s, http: {requestTimeout: 90s}}}]}}`
	locality := `{type: MeshLoadBalancingStrategy, mesh: default, name: near, spec: {to: [{targetRef: {kind: Mesh}, default: {localityAwareness: {}}}]}}`
	affinity := `{type: MeshLoadBalancingStrategy, mesh: default, name: near, spec: {to: [{targetRef: {kind: Mesh}, default: {localityAwareness: {crossZone: {failover: [{to: {type: Any}}]}, localZone: {affinityTags: [{key: rack}]}}}}]}}`
	for _, test := range []struct {
		name     string
		policies string
		kind     wire.Type
		// Each number is a resource; equal numbers are one resource.
		want []int
	}{
		// web, slow, shop, west, rack r1, rack r9
		{"the cluster by policy and identity", timeout, wire.ClusterType, []int{0, 1, 2, 0, 0, 0}},
		{"the routes by policy", timeout, wire.RouteType, []int{0, 1, 0, 0, 0, 0}},
		{"the endpoints by identity", timeout, wire.EndpointType, []int{0, 0, 1, 0, 0, 0}},
		{"the endpoints by zone", locality, wire.EndpointType, []int{0, 0, 1, 2, 0, 0}},
		{"the endpoints by a tag", affinity, wire.EndpointType, []int{0, 0, 1, 2, 3, 0}},
		{"the listener for gRPC", timeout, wire.ListenerType, []int{0, 0, 0, 0, 0, 0}},
	} {
		t.Run(test.name, func(t *testing.T) {
			view := coretest.View(t, mesh+test.policies)
			state := snapshot.NewBuilder(translators.All(), snapshot.Options{Audit: true}).At(view)
			east := variant.Parameters{"kuma.io/service": "web", variant.LabelKey("kuma.io/zone"): "east"}
			var got []int
			var distinct []*wire.Resource
			for _, more := range []variant.Parameters{
				{}, {"team": "slow"}, {variant.LabelKey("app"): "shop"}, {variant.LabelKey("kuma.io/zone"): "west"}, {"rack": "r1"}, {"rack": "r9"},
			} {
				p := maps.Clone(east)
				maps.Copy(p, more)
				located, ok := state.Locate(test.kind, "default/backend", p)
				if !ok {
					t.Fatalf("no variant for %v", p)
				}
				at := slices.Index(distinct, located.Resource)
				if at < 0 {
					at = len(distinct)
					distinct = append(distinct, located.Resource)
				}
				got = append(got, at)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got resources %v, want %v", got, test.want)
			}
		})
	}
	t.Run("a name that no dataplane has", func(t *testing.T) {
		view, err := core.Options{Semantics: core.TargetRef}.NewView(t.Context(), kinds.All(), &resource.Set{})
		if err != nil {
			t.Fatal(err)
		}
		if located, ok := snapshot.NewBuilder(translators.All(), snapshot.Options{}).At(view).Locate(wire.ClusterType, "default/backend", nil); ok {
			t.Errorf("got %+v", located)
		}
	})
}

// In Kuma, policies and MeshIdentities that were made in a zone make variants for the clients
// that were made in another one (SPEC 17.1).
func TestVariantsOfZones(t *testing.T) {
	const clients = `
{type: Dataplane, name: backend, networking: {address: 10.0.1.1, inbound: [{port: 80, tags: {kuma.io/service: backend}}]}}
---
{type: Dataplane, name: web, networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: web}}], outbound: [{port: 10001, tags: {kuma.io/service: backend}}]}}
---
`
	const east = "labels: {kuma.io/origin: zone, kuma.io/zone: east}"
	for name, made := range map[string]string{
		"a policy":       `{type: MeshTimeout, name: t, ` + east + `, spec: {to: [{default: {connectionTimeout: 9s}}]}}`,
		"a MeshIdentity": `{type: MeshIdentity, name: i, ` + east + `, spec: {selector: {dataplane: {matchLabels: {}}}, spiffeID: {trustDomain: td, path: /x}, provider: {type: Spire, spire: {}}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			state := snapshotState(t, semantics.Kuma, clients+made)
			locate := func(labels map[string]string) *wire.Resource {
				p := variant.Parameters{"kuma.io/service": "web"}
				for key, value := range labels {
					p[variant.LabelKey(key)] = value
				}
				located, _ := state.Locate(wire.ClusterType, "default/backend", p)
				return located.Resource
			}
			own := locate(map[string]string{"kuma.io/origin": "zone", "kuma.io/zone": "east"})
			for _, labels := range []map[string]string{nil, {"kuma.io/zone": "west"}, {"kuma.io/origin": "zone"}, {"kuma.io/origin": "global", "kuma.io/zone": "west"}} {
				if locate(labels) != own {
					t.Errorf("a client with the labels %v has another cluster than one of the zone", labels)
				}
			}
			if other := locate(map[string]string{"kuma.io/origin": "zone", "kuma.io/zone": "west"}); other == own || other == nil {
				t.Errorf("a client of another zone has the cluster %+v", other)
			}
		})
	}
}

// snapshotState returns the resources of a mesh, by a semantics.
func snapshotState(t *testing.T, as semantics.Semantics, mesh string) *snapshot.State {
	t.Helper()
	set, err := (&resource.Loader{Kinds: kinds.All()}).Decode(t.Context(), resource.Input{Name: "mesh.yaml", Data: []byte(mesh)})
	if err != nil {
		t.Fatal(err)
	}
	view, err := core.Options{Semantics: cmp.Or(as, core.TargetRef)}.NewView(t.Context(), kinds.All(), set)
	if err != nil {
		t.Fatal(err)
	}
	return snapshot.NewBuilder(translators.All(), snapshot.Options{Audit: true}).At(view)
}

// A policy may remove a resource. Then no variant of it exists for the parameters of the
// dataplanes that the policy selects.
func TestLocatorsOfRemovedResources(t *testing.T) {
	view := coretest.View(t, `
{type: Dataplane, name: web, networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: web, team: a}}], outbound: [{port: 9000, tags: {kuma.io/service: api}}]}}
---
{type: MeshProxyPatch, name: a, spec: {targetRef: {kind: MeshSubset, tags: {team: a}}, default: {appendModifications: [{cluster: {operation: Remove, match: {origin: outbound}}}]}}}
`)
	state := snapshot.NewBuilder(translators.All(), snapshot.Options{}).At(view)
	for team, want := range map[string]bool{"a": false, "b": true} {
		located, ok := state.Locate(wire.ClusterType, "default/api", variant.Parameters{resource.ServiceTag: "web", "team": team})
		if ok != want || (located.Resource != nil) != want {
			t.Errorf("team %s: got %v, %v, want a cluster: %v", team, located, ok, want)
		}
	}
}
