package relay_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	resourcev3 "github.com/envoyproxy/go-control-plane/pkg/resource/v3"
	serverv3 "github.com/envoyproxy/go-control-plane/pkg/server/v3"
	"google.golang.org/grpc"

	"github.com/meshmatch/meshmatch/core/app/internal/relay"
	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// The server of go-control-plane knows no locators. As an upstream it serves each node, in
// the mode for that; in the other mode the relay says what to do, and serves nothing wrong.
func TestGoControlPlane(t *testing.T) {
	for _, mode := range []relay.Mode{relay.Nodes, relay.Locators} {
		t.Run(string(mode), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cache := cachev3.NewSnapshotCache(true, cachev3.IDHash{}, nil)
				publish := func(version string) {
					snapshot, err := cachev3.NewSnapshot(version, map[resourcev3.Type][]types.Resource{
						resourcev3.ClusterType: {&clusterv3.Cluster{
							Name: "web", AltStatName: version, ClusterDiscoveryType: &clusterv3.Cluster_Type{Type: clusterv3.Cluster_EDS},
						}},
						resourcev3.EndpointType: {&endpointv3.ClusterLoadAssignment{ClusterName: "web"}},
					})
					must(t, err)
					must(t, cache.SetSnapshot(context.Background(), "a", snapshot))
				}
				publish("1")
				ctx, cancel := context.WithCancel(context.Background())
				at := newSite(t, "control-plane")
				g := grpc.NewServer()
				discoveryv3.RegisterAggregatedDiscoveryServiceServer(g, serverv3.NewServer(ctx, cache, nil))
				at.listen(g)
				r := newSite(t, "relay").relay(relay.Options{Upstreams: []relay.Upstream{at.upstream()}, Mode: mode})
				t.Cleanup(func() {
					r.stop()
					g.Stop()
					cancel()
				})
				synctest.Wait()

				for _, state := range []bool{false, true} {
					client := r.client(xdstest.Options{Node: node("a"), StateOfTheWorld: state})
					must(t, client.Wildcard(wire.ClusterType))
					must(t, client.Subscribe(wire.EndpointType, "web"))
					synctest.Wait()
					if got := names(client, wire.ClusterType); !got["web"] {
						t.Errorf("the client holds the clusters %v", got)
					}
					if got := names(client, wire.EndpointType); !got["web"] {
						t.Errorf("the client holds the endpoints %v", got)
					}
					publish("2")
					time.Sleep(time.Second)
					synctest.Wait()
					if got := client.Named(wire.ClusterType)["web"].Body; got != string(xdstest.Marshal(wire.ClusterType, "web", &clusterv3.Cluster{
						Name: "web", AltStatName: "2", ClusterDiscoveryType: &clusterv3.Cluster_Type{Type: clusterv3.Cluster_EDS},
					}).Body) {
						t.Errorf("after a change the client holds %q", got)
					}
					client.Close()
				}

				byLocator := r.client(xdstest.Options{})
				must(t, byLocator.SubscribeLocators(wire.ClusterType, forEnv("prod", 0)))
				time.Sleep(time.Minute)
				located(t, byLocator, wire.ClusterType, forEnv("prod", 0), nil)
				if mode == relay.Nodes {
					if _, failed := byLocator.Error(wire.ClusterType, "web"); !failed {
						t.Error("a locator has no error, although the upstream has none")
					}
				}
			})
		})
	}
}
