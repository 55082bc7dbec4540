package xds_test

import (
	"testing"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/translators"
)

const grpcWorld = `
{type: Dataplane, name: greeter, networking: {address: 10.0.0.1, inbound: [
  {port: 80, protocol: grpc, tags: {kuma.io/service: greeter}},
  {port: 81, protocol: tcp, tags: {kuma.io/service: greeter-store, kuma.io/server-first: "true"}}]}}
---
{type: MeshIdentity, name: spire, spec: {selector: {dataplane: {matchLabels: {}}}, provider: {type: Spire}}}
---
{type: MeshTrafficPermission, name: p, spec: {rules: [{default: {allow: [{spiffeId: {type: Exact, value: "spiffe://default.mesh.local/web"}}]}}]}}
---
{type: MeshTimeout, name: t, spec: {rules: [{default: {http: {requestTimeout: 3s}}}]}}
`

// A gRPC server handles calls itself: its routes do not forward them. An inbound that it
// cannot have, such as one for TCP, does not keep it from the others.
func TestInboundsOfGRPCServer(t *testing.T) {
	loader := resource.Loader{Kinds: kinds.All()}
	set, err := loader.Decode(resource.Input{Name: "world.yaml", Data: []byte(grpcWorld)})
	if err != nil {
		t.Fatal(err)
	}
	view, err := core.NewView(loader.Kinds, set)
	if err != nil {
		t.Fatal(err)
	}
	state := xds.NewBuilder(translators.All(), xds.Options{}).At(view)
	for name, grpc := range map[string]bool{"Envoy": false, "gRPC": true} {
		snapshot := state.Snapshot(set.Dataplanes[0], grpc)
		if got := len(snapshot.Resources(xds.ListenerType)); got != 2 {
			t.Errorf("%s: %d listeners, want 2", name, got)
		}
		m, err := snapshot.Resources(xds.RouteType)[0].Message()
		if err != nil {
			t.Fatal(err)
		}
		for _, route := range m.(*routev3.RouteConfiguration).VirtualHosts[0].Routes {
			if got := route.GetNonForwardingAction() != nil; got != grpc {
				t.Errorf("%s: a route that does not forward: %v, want %v", name, got, grpc)
			}
		}
	}
}
