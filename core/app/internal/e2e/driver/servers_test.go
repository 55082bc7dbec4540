package driver

import (
	"context"
	"net"
	"testing"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"github.com/envoyproxy/go-control-plane/pkg/server/sotw/v3"
	serverv3 "github.com/envoyproxy/go-control-plane/pkg/server/v3"
	"github.com/envoyproxy/go-control-plane/pkg/test/resource/v3"
	"google.golang.org/grpc"

	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// node is the node id of the driver's Envoy.
const node = "test-id"

// A publisher serves snapshots of the driver to the node.
type publisher interface {
	publish(t *testing.T, snapshot *cachev3.Snapshot)
}

// servers are the servers that the driver is run with. The second one is the driver's own.
var servers = []struct {
	name  string
	serve func(t *testing.T, mode string) (publisher, net.Addr)
	// strict demands more than the driver does, see the comment of the package.
	strict bool
}{
	{"meshmatch", serveMeshmatch, true},
	{"go-control-plane", serveControlPlane, false},
}

// meshmatch is the server of this module.
type meshmatch struct{ source *xdstest.Source }

func serveMeshmatch(t *testing.T, _ string) (publisher, net.Addr) {
	source := xdstest.NewSource(xdstest.NewState())
	s := server.New(server.Options{Source: source})
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		s.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-stopped
	})
	g := grpc.NewServer(s.GRPCOptions(nil)...)
	s.Register(g)
	return &meshmatch{source}, listen(t, g)
}

func (m *meshmatch) publish(_ *testing.T, snapshot *cachev3.Snapshot) {
	var all []*wire.Resource
	for t := range wire.Type(wire.NumTypes) {
		for name, r := range snapshot.GetResources(t.URL()) {
			all = append(all, message.NewResource(t, name, r))
		}
	}
	m.source.Edit(func(state *xdstest.State) { state.Nodes[node] = xdstest.Snapshot(all...) })
}

// controlPlane is the server of go-control-plane, as the driver starts it.
type controlPlane struct{ cache cachev3.SnapshotCache }

func serveControlPlane(t *testing.T, mode string) (publisher, net.Addr) {
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	cache := cachev3.NewSnapshotCache(mode == resource.Ads, cachev3.IDHash{}, nil)
	s := serverv3.NewServer(ctx, cache, nil)
	if mode == resource.Ads {
		s = serverv3.NewServer(ctx, cache, nil, sotw.WithOrderedADS())
	}
	g := grpc.NewServer()
	discoveryv3.RegisterAggregatedDiscoveryServiceServer(g, s)
	return &controlPlane{cache}, listen(t, g)
}

func (c *controlPlane) publish(t *testing.T, snapshot *cachev3.Snapshot) {
	t.Helper()
	if err := c.cache.SetSnapshot(t.Context(), node, snapshot); err != nil {
		t.Fatal(err)
	}
}

// listen serves gRPC on loopback until the test ends.
func listen(t *testing.T, g *grpc.Server) net.Addr {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = g.Serve(l) }()
	t.Cleanup(g.Stop)
	return l.Addr()
}
