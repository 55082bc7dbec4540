package main

import (
	"net"
	"testing"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	statusv3 "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

func load(t *testing.T) (*core.Engine, *core.View) {
	t.Helper()
	set, err := (&resource.Loader{Kinds: kinds.All()}).Load(t.Context(), "../embed/mesh.yaml", "batch.yaml")
	if err != nil {
		t.Fatal(err)
	}
	engine := core.NewEngine(kinds.All(), core.Options{Semantics: core.Detect(set)})
	commit, err := engine.Apply(t.Context(), core.Batch{Upsert: set})
	if err != nil {
		t.Fatal(err)
	}
	return engine, commit.After
}

// Dataplanes have the same message for a resource that they share, and messages and snapshots
// that are no longer used are dropped.
func TestPush(t *testing.T) {
	engine, view := load(t)
	cache := cachev3.NewSnapshotCache(true, cachev3.IDHash{}, nil)
	p := newPusher(cache)
	if _, err := p.push(t.Context(), view); err != nil {
		t.Fatal(err)
	}
	references := 0
	for _, s := range p.pushed {
		for typ := range wire.Type(wire.NumTypes) {
			references += len(s.Resources(typ))
		}
	}
	if len(p.messages) >= references || len(p.messages) == 0 {
		t.Errorf("%d resources of the dataplanes have %d messages", references, len(p.messages))
	}
	gone := view.Dataplanes("default")[0]
	commit, err := engine.Apply(t.Context(), core.Batch{Delete: []resource.ID{gone.ID}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.push(t.Context(), commit.After); err != nil {
		t.Fatal(err)
	}
	if _, err := cache.GetSnapshot(gone.KRI("")); err == nil || len(p.pushed) != 1 {
		t.Errorf("%s is still served", gone.Name)
	}
}

// A refused answer is reported.
func TestServe(t *testing.T) {
	_, view := load(t)
	cache := cachev3.NewSnapshotCache(true, cachev3.IDHash{}, nil)
	if _, err := newPusher(cache).push(t.Context(), view); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	nacks := make(chan string, 1)
	go func() {
		_ = serve(t.Context(), listener, cache, func(_, message string) { nacks <- message })
	}()
	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	stream, err := discoveryv3.NewAggregatedDiscoveryServiceClient(conn).StreamAggregatedResources(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	request := &discoveryv3.DiscoveryRequest{TypeUrl: wire.ClusterType.URL(), Node: &corev3.Node{Id: view.Dataplanes("default")[0].KRI("")}}
	if err := stream.Send(request); err != nil {
		t.Fatal(err)
	}
	response, err := stream.Recv()
	if err != nil {
		t.Fatal(err)
	}
	request.ResponseNonce, request.ErrorDetail = response.Nonce, &statusv3.Status{Message: "no"}
	if err := stream.Send(request); err != nil {
		t.Fatal(err)
	}
	if got := <-nacks; got != "no" {
		t.Errorf("the client refuses with %q", got)
	}
}
