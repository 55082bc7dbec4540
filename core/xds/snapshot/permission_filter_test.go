package snapshot_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/xds/capability"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/translators"
	"github.com/meshmatch/meshmatch/core/xds/wire"
	"github.com/meshmatch/meshmatch/fuzz"
)

// What a permission filter is while it drains is what the inbound would have with HTTP (SPEC 12.3):
// in random meshes it is the filter that each HTTP inbound has, and it is the same when the protocol
// of all inbounds changes to TCP.
func TestFiltersThatDrainAreThoseOfHTTP(t *testing.T) {
	generator, err := fuzz.NewGenerator(kinds.All())
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for seed := range uint64(60) {
		text := generator.Scenario(fuzz.RandomBytes(rand.New(rand.NewPCG(seed, 4)), 400)).YAML()
		http, tcp := withProtocol(t, text, "http"), withProtocol(t, text, "tcp")
		for _, client := range []xds.Client{{}, xds.EnvoyOf(capability.Unknown)} {
			for _, d := range http.View().Dataplanes("default") {
				for _, want := range http.SnapshotFor(d, client).Resources(wire.ExtensionType) {
					for name, state := range map[string]*snapshot.State{"http": http, "tcp": tcp} {
						got, found := state.PermissionFilter(state.View().Dataplane(d.ID), client, want.Name)
						if !found || got == nil || got.Version != want.Version || got.Name != want.Name {
							t.Fatalf("%s with all inbounds %s: %s is %v, want %v; the mesh:\n%s", d.ID, name, want.Name, got, want, text)
						}
						compared++
					}
				}
			}
		}
	}
	if compared < 300 {
		t.Errorf("only %d filters were compared", compared)
	}
}

// withProtocol returns the state of a mesh whose inbounds all have a protocol.
func withProtocol(t *testing.T, text, protocol string) *snapshot.State {
	t.Helper()
	loader := resource.Loader{Kinds: kinds.All()}
	set, err := loader.Decode(t.Context(), resource.Input{Name: "mesh.yaml", Data: []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range set.Dataplanes {
		changed := *d
		changed.Inbounds = slices.Clone(d.Inbounds)
		for j := range changed.Inbounds {
			changed.Inbounds[j].Protocol = protocol
		}
		set.Dataplanes[i] = &changed
	}
	view, err := core.Options{Semantics: core.TargetRef}.NewView(t.Context(), loader.Kinds, set)
	if err != nil {
		t.Fatal(err)
	}
	return snapshot.NewBuilder(translators.All(), snapshot.Options{}).At(view)
}

// The filter of the plain-text chain is the only filter of an inbound that has no such chain any
// more, and an inbound that is gone has none.
func TestFilterOfPlainTextChain(t *testing.T) {
	state := stateOf(t, "{type: Dataplane, name: web, networking: {address: 10.0.0.1, inbound: [{port: 80, protocol: tcp, tags: {kuma.io/service: web}}]}}\n")
	web := state.View().Dataplane(resource.ID{Kind: resource.DataplaneKind, Mesh: "default", Name: "web"})
	main, _ := state.PermissionFilter(web, xds.Client{}, "permission/inbound/10.0.0.1/80")
	plain, found := state.PermissionFilter(web, xds.Client{}, "permission/inbound/10.0.0.1/80/plain")
	if !found || main == nil || plain == nil || plain.Version != main.Version || !strings.HasSuffix(plain.Name, "/plain") {
		t.Errorf("the filters are %v and %v", main, plain)
	}
	if filter, found := state.PermissionFilter(web, xds.Client{}, "permission/inbound/10.0.0.1/81"); found || filter != nil {
		t.Errorf("an inbound that does not exist has the filter %v", filter)
	}
}
