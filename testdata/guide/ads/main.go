package main

import (
	"context"
	"log"
	"net"
	"os"

	"google.golang.org/grpc"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/translators"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// source publishes the state of each view of the engine.
type source struct {
	engine  *core.Engine
	builder *snapshot.Builder
}

func (s source) Current() (server.State, <-chan struct{}) {
	view := s.engine.View()
	return state{s.builder.At(view)}, view.Superseded()
}

// state is a server.State.
type state struct{ *snapshot.State }

// Node returns the resources of the dataplane whose KRI is the id of the node.
func (s state) Node(node *server.Node) (*wire.Snapshot, bool) {
	d := s.View().DataplaneOf(node.ID)
	client, err := xds.ClientBy(node.UserAgent, node.Version)
	if d == nil || err != nil { // unknown, or too old to be served
		return nil, false
	}
	return s.SnapshotFor(d, client).Served(nil), true // nil: no private keys
}

// Locate returns a resource with parameters for a client.
func (s state) Locate(node *server.Node, t wire.Type, name string, parameters map[string]string) (wire.Variant, bool) {
	client, err := xds.ClientBy(node.UserAgent, node.Version)
	if err != nil {
		return wire.Variant{}, false
	}
	return s.LocateFor(client, t, name, parameters)
}

func main() {
	ctx := context.Background()
	listener, err := net.Listen("tcp", "127.0.0.1:5678")
	if err != nil {
		log.Fatal(err)
	}
	engine, err := load(ctx, os.Args[1:]...)
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(serve(ctx, listener, engine))
}

// load returns an engine with the resources of files.
func load(ctx context.Context, files ...string) (*core.Engine, error) {
	set, err := (&resource.Loader{Kinds: kinds.All()}).Load(ctx, files...)
	if err != nil {
		return nil, err
	}
	engine := core.NewEngine(kinds.All(), core.Options{Semantics: core.Detect(set)})
	_, err = engine.Apply(ctx, core.Batch{Upsert: set})
	return engine, err
}

// serve serves the engine until the listener is closed.
func serve(ctx context.Context, listener net.Listener, engine *core.Engine) error {
	builder := snapshot.NewBuilder(translators.All(), snapshot.Options{})
	ads := server.New(server.Options{Source: source{engine, builder}})
	go ads.Run(ctx)
	g := grpc.NewServer(ads.GRPCOptions(nil)...)
	ads.Register(g)
	return g.Serve(listener)
}
