package main

import (
	"net"
	"testing"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// A client that acts as an Envoy gets its clusters, and again after an edit of a policy.
func TestServe(t *testing.T) {
	ctx := t.Context()
	engine, err := load(ctx, "../embed/mesh.yaml")
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() { _ = serve(ctx, listener, engine) }()
	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	stream, err := discoveryv3.NewAggregatedDiscoveryServiceClient(conn).StreamAggregatedResources(ctx)
	if err != nil {
		t.Fatal(err)
	}
	request := &discoveryv3.DiscoveryRequest{TypeUrl: wire.ClusterType.URL(), Node: &corev3.Node{
		Id: engine.View().Dataplanes("default")[0].KRI(""), UserAgentName: "envoy",
	}}
	receive := func() {
		t.Helper()
		if err := stream.Send(request); err != nil {
			t.Fatal(err)
		}
		response, err := stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		if len(response.Resources) != 2 {
			t.Errorf("there are %d clusters, want those of the outbound and the inbound", len(response.Resources))
		}
		request.VersionInfo, request.ResponseNonce = response.VersionInfo, response.Nonce
	}
	receive()
	edit := core.Batch{Delete: []resource.ID{{Kind: "MeshTimeout", Mesh: "default", Name: "web"}}}
	if _, err := engine.Apply(ctx, edit); err != nil {
		t.Fatal(err)
	}
	receive()
}
