package snapshot_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/translators"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// Each type of client is given an outbound that becomes HTTP after its snapshot was built
// (SPEC 12.3): the client starts before its backend, the last endpoint leaves and returns,
// and a TCP service becomes an HTTP service.
func TestClientsFollowProtocols(t *testing.T) {
	const (
		web = `{type: Dataplane, name: web, networking: {address: 10.0.0.1, inbound: [{port: 80, protocol: http, tags: {kuma.io/service: web}}],
  outbound: [{port: 1, address: 127.0.0.1, tags: {kuma.io/service: api}}]}}`
		tcp    = `{type: Dataplane, name: api, networking: {address: 10.0.0.2, inbound: [{port: 80, protocol: tcp, tags: {kuma.io/service: api}}]}}`
		http   = `{type: Dataplane, name: api, networking: {address: 10.0.0.2, inbound: [{port: 80, protocol: http, tags: {kuma.io/service: api}}]}}`
		second = `{type: Dataplane, name: api-2, networking: {address: 10.0.0.3, inbound: [{port: 80, protocol: tcp, tags: {kuma.io/service: api}}]}}`
	)
	engine := core.NewEngine(kinds.All(), core.Options{Semantics: core.TargetRef})
	loader := resource.Loader{Kinds: kinds.All()}
	builder := snapshot.NewBuilder(translators.All(), snapshot.Options{Audit: true})
	for _, step := range []struct {
		name, upsert, remove string
		isHTTP               bool
	}{
		{name: "the client starts", upsert: web},
		{name: "its backend starts", upsert: http, isHTTP: true},
		{name: "the last endpoint leaves", remove: "api"},
		{name: "it returns", upsert: http, isHTTP: true},
		{name: "an endpoint has another protocol", upsert: second},
		{name: "it leaves", remove: "api-2", isHTTP: true},
		{name: "the service becomes TCP", upsert: tcp},
		{name: "the service becomes HTTP", upsert: http, isHTTP: true},
	} {
		var batch core.Batch
		if step.upsert != "" {
			set, err := loader.Decode(t.Context(), resource.Input{Name: "mesh.yaml", Data: []byte(step.upsert)})
			if err != nil {
				t.Fatal(err)
			}
			batch.Upsert = set
		} else {
			batch.Delete = []resource.ID{{Kind: resource.DataplaneKind, Mesh: "default", Name: step.remove}}
		}
		if _, err := engine.Apply(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
		state := builder.At(engine.View())
		want := answersOf(snapshot.NewBuilder(translators.All(), snapshot.Options{}).At(engine.View()))
		if diff := cmp.Diff(want, answersOf(state)); diff != "" {
			t.Errorf("%s: -a new builder +this one:\n%s", step.name, diff)
		}
		d := engine.View().Dataplane(resource.ID{Kind: resource.DataplaneKind, Mesh: "default", Name: "web"})
		grpc := state.Snapshot(d, xds.ProxylessGRPC)
		if got := len(grpc.API()) == 1 && len(grpc.Resources(wire.ClusterType)) == 1; got != step.isHTTP {
			t.Errorf("%s: that gRPC has the outbound is %v", step.name, got)
		}
	}
}
