package snapshot_test

import (
	"runtime"
	"testing"
	"weak"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/translators"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// A snapshot is kept while nothing changes that it depends on, and the parts that
// dataplanes have in common are one pointer.
func TestSnapshotsAreShared(t *testing.T) {
	engine := core.NewEngine(kinds.All(), core.Options{Semantics: core.TargetRef})
	apply := func(builders ...*resource.DataplaneBuilder) {
		t.Helper()
		set := &resource.Set{}
		for _, b := range builders {
			d, err := b.Dataplane()
			if err != nil {
				t.Fatal(err)
			}
			set.Dataplanes = append(set.Dataplanes, d)
		}
		if _, err := engine.Apply(t.Context(), core.Batch{Upsert: set}); err != nil {
			t.Fatal(err)
		}
	}
	client := func(name, address string) *resource.DataplaneBuilder {
		return resource.NewDataplane("default", name, address).
			Outbound(resource.Outbound{Port: 10001, Tags: resource.NewTags(map[string]string{resource.ServiceTag: "backend"})})
	}
	backend := func(name, address string) *resource.DataplaneBuilder {
		return resource.NewDataplane("default", name, address).
			Inbound(resource.Inbound{Port: 8080, Protocol: "http", Tags: resource.NewTags(map[string]string{resource.ServiceTag: "backend"})})
	}
	apply(client("a", "10.0.0.1"), client("b", "10.0.0.2"), backend("backend-1", "10.0.1.1"))
	b := snapshot.NewBuilder(translators.All(), snapshot.Options{Audit: true})
	of := func(name string) *snapshot.Snapshot {
		state := b.At(engine.View())
		return state.Snapshot(state.View().Dataplane(resource.ID{Kind: "Dataplane", Mesh: "default", Name: name}), xds.Envoy)
	}
	first, other := of("a"), of("b")
	for _, kind := range []wire.Type{wire.ClusterType, wire.EndpointType, wire.ListenerType, wire.RouteType} {
		if len(first.Resources(kind)) != 1 || first.Resources(kind)[0] != other.Resources(kind)[0] {
			t.Errorf("%s: %v and %v are not one resource", kind.URL(), first.Resources(kind), other.Resources(kind))
		}
	}
	apply(client("c", "10.0.0.3"))
	if of("a") != first {
		t.Error("the snapshot of a changed with an unrelated dataplane")
	}
	apply(backend("backend-2", "10.0.1.2"))
	second := of("a")
	if second == first || second.Resources(wire.EndpointType)[0] == first.Resources(wire.EndpointType)[0] {
		t.Error("the endpoints did not change with an endpoint")
	}
	if second.Resources(wire.ClusterType)[0] != first.Resources(wire.ClusterType)[0] {
		t.Error("the cluster changed with an endpoint")
	}
}

// A builder that is no longer in use is freed with the snapshots that it has built.
func TestBuildersAreFreed(t *testing.T) {
	d, err := resource.NewDataplane("default", "a", "10.0.0.1").
		Outbound(resource.Outbound{Port: 10001, Tags: resource.NewTags(map[string]string{resource.ServiceTag: "backend"})}).Dataplane()
	if err != nil {
		t.Fatal(err)
	}
	view, err := core.Options{Semantics: core.TargetRef}.NewView(t.Context(), kinds.All(), &resource.Set{Dataplanes: []*resource.Dataplane{d}})
	if err != nil {
		t.Fatal(err)
	}
	build := func() weak.Pointer[snapshot.Builder] {
		b := snapshot.NewBuilder(translators.All(), snapshot.Options{})
		if len(b.At(view).Snapshot(d, xds.Envoy).Resources(wire.ClusterType)) != 1 {
			t.Fatal("there is no cluster")
		}
		return weak.Make(b)
	}
	b := build()
	for range 10 { // a pool keeps a value for two collections
		runtime.GC()
	}
	if b.Value() != nil {
		t.Error("the builder is kept")
	}
}

// The inbounds of a dataplane are built again if its identity has another provider: the
// certificates of some providers contain tags, which policies match (SPEC 11.6).
func TestInboundsFollowTheProvider(t *testing.T) {
	const mesh = `
{type: Dataplane, name: web, networking: {address: 10.0.0.1, inbound: [{port: 80, protocol: http, tags: {kuma.io/service: web}}]}}
---
{type: MeshTimeout, name: clients, spec: {from: [{targetRef: {kind: MeshSubset, tags: {team: a}}, default: {http: {requestTimeout: 7s}}}]}}
`
	engine := core.NewEngine(kinds.All(), core.Options{Semantics: core.TargetRef})
	apply := func(text string) {
		t.Helper()
		set, err := (&resource.Loader{Kinds: kinds.All()}).Decode(t.Context(), resource.Input{Name: "mesh.yaml", Data: []byte(text)})
		if err == nil {
			_, err = engine.Apply(t.Context(), core.Batch{Upsert: set})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	apply(mesh)
	b := snapshot.NewBuilder(translators.All(), snapshot.Options{Audit: true})
	for _, provider := range []string{
		"{type: Bundled, bundled: {autogenerate: {enabled: true}}}",
		"{type: Extension, extension: {name: files, config: {certificate: /c.pem, privateKey: /k.pem, trustBundle: /ca.pem}}}",
		"{type: Spire, spire: {}}",
	} {
		apply("{type: MeshIdentity, name: identity, spec: {selector: {dataplane: {matchLabels: {}}}, provider: " + provider + "}}")
		view := engine.View()
		listeners := func(b *snapshot.Builder) string {
			d := view.Dataplane(resource.ID{Kind: "Dataplane", Mesh: "default", Name: "web"})
			return string(b.At(view).Snapshot(d, xds.Envoy).Resources(wire.ListenerType)[0].Body)
		}
		if got, want := listeners(b), listeners(snapshot.NewBuilder(translators.All(), snapshot.Options{})); got != want {
			t.Errorf("provider %s: got the listener %q, want %q", provider, got, want)
		}
	}
}
