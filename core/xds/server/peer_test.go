package server_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"github.com/envoyproxy/go-control-plane/pkg/resource/v3"
	serverv3 "github.com/envoyproxy/go-control-plane/pkg/server/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/test/bufconn"

	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// controlPlane is two replicas of go-control-plane's server with snapshot caches.
type controlPlane struct {
	t        testing.TB
	caches   [2]cachev3.SnapshotCache
	conns    [2]grpc.ClientConnInterface
	versions int
}

func newControlPlane(t testing.TB) *controlPlane {
	c := &controlPlane{t: t}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	for i := range c.caches {
		c.caches[i] = cachev3.NewSnapshotCache(true, cachev3.IDHash{}, nil)
		g := grpc.NewServer()
		discoveryv3.RegisterAggregatedDiscoveryServiceServer(g, serverv3.NewServer(ctx, c.caches[i], nil))
		listen := bufconn.Listen(1 << 20)
		go func() { _ = g.Serve(listen) }()
		t.Cleanup(g.Stop)
		c.conns[i] = dial(t, listen)
	}
	return c
}

// peerTypes are the types of go-control-plane.
var peerTypes = [wire.NumTypes]resource.Type{
	wire.ClusterType: resource.ClusterType, wire.EndpointType: resource.EndpointType,
	wire.ListenerType: resource.ListenerType, wire.RouteType: resource.RouteType, wire.SecretType: resource.SecretType,
	wire.ExtensionType: resource.ExtensionConfigType,
}

// peerSnapshot returns the snapshot of go-control-plane with the same resources.
func peerSnapshot(t testing.TB, version string, snapshot *wire.Snapshot) *cachev3.Snapshot {
	resources := map[resource.Type][]types.Resource{}
	for k, rs := range snapshot {
		for _, list := range [][]*wire.Resource{rs.Listed, rs.Named} {
			for _, r := range list {
				m, err := message.Decode(r)
				if err != nil {
					t.Fatal(err)
				}
				resources[peerTypes[k]] = append(resources[peerTypes[k]], m)
			}
		}
	}
	s, err := cachev3.NewSnapshot(version, resources)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (c *controlPlane) publish(state *xdstest.State) {
	for i, cache := range c.caches {
		c.versions++
		for id, snapshot := range state.Nodes {
			// Two replicas have versions of their own.
			version := fmt.Sprintf("%d.%d", i, c.versions)
			if err := cache.SetSnapshot(context.Background(), id, peerSnapshot(c.t, version, snapshot)); err != nil {
				c.t.Fatal(err)
			}
		}
		for _, id := range cache.GetStatusKeys() {
			if _, ok := state.Nodes[id]; !ok {
				cache.ClearSnapshot(id)
			}
		}
	}
}

func (c *controlPlane) connect(_ testing.TB, replica int) grpc.ClientConnInterface {
	return c.conns[replica]
}

// TestConformanceOfGoControlPlane runs the same scripts against go-control-plane.
// testdata/conformance/go-control-plane.txt lists those that do not hold there, with
// the reason.
func TestConformanceOfGoControlPlane(t *testing.T) {
	differences := readDifferences(t, "testdata/conformance/go-control-plane.txt")
	for _, protocol := range protocols {
		t.Run(protocol.name, func(t *testing.T) {
			playPeer(t, protocol.name, readScripts(t, protocol.path), protocol.wire, differences)
		})
	}
}

// playPeer plays scripts against go-control-plane. Exactly the listed ones must fail.
func playPeer(t *testing.T, protocol string, scripts []script, newWire func() speaker, differences map[string]string) {
	for _, s := range scripts {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			reason, differs := differences[protocol+" "+s.name]
			synctest.Test(t, func(t *testing.T) {
				err := play(t, s, newControlPlane(t), newWire())
				switch {
				case err != nil && !differs:
					t.Error(err)
				case err == nil && differs:
					t.Errorf("holds, but is listed as a difference: %s", reason)
				}
			})
		})
	}
}

// readDifferences returns the reason for each "PROTOCOL SCRIPT". In the file, the
// scripts of a reason follow it, with a hyphen before each.
func readDifferences(t *testing.T, path string) map[string]string {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	differences, reason := map[string]string{}, ""
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "- "); ok {
			differences[name] = reason
		} else if line != "" && !strings.HasPrefix(line, "#") {
			reason = line
		}
	}
	return differences
}
