package serving

import (
	"strings"
	"testing"
	"time"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/meshmatch/meshmatch/core/internal/xds/capability"
	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
)

// warms is how long an Envoy may take to warm a changed cluster after it is connected again. It
// waits for 15 s if the endpoints of the cluster are not sent.
const warms = time.Second

// A cluster that is edited while the server is away is warm at once when the server is back,
// with and without the cache of endpoints that Envoy has for it, and no request fails.
func TestWarmsAfterRestart(t *testing.T) {
	envoytest.Path(t)
	for _, test := range []struct {
		name     string
		protocol corev3.ApiConfigSource_ApiType
		uncached bool
	}{
		{"delta", corev3.ApiConfigSource_DELTA_GRPC, false},
		{"state of the world", corev3.ApiConfigSource_GRPC, false},
		{"delta without a cache", corev3.ApiConfigSource_DELTA_GRPC, true},
		{"state of the world without a cache", corev3.ApiConfigSource_GRPC, true},
	} {
		if test.uncached && envoytest.Version(t).Compare(capability.Newest) >= 0 {
			continue // this release always has the cache
		}
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			m := newMesh(t, map[string]string{
				"web.yaml": web, "backend-2.yaml": backend2, "permission.yaml": permission("Allow"), "timeouts.yaml": timeouts(10*time.Second, 5*time.Second),
			})
			m.startApp("backend-2", "127.0.0.12:10000")
			server := m.serve(firstReplica)
			proxy := m.startProxy("web", test.protocol, firstReplica, "127.0.0.201:9901", func(b *bootstrapv3.Bootstrap) {
				if test.uncached {
					withoutCache(b)
				}
			})
			server.waitConverged(1)
			tr := startTraffic(t, m.network.Replace("http://127.0.0.1:10001/"))
			tr.flows("backend-2")
			for round := range 3 {
				server.stop()
				m.write("timeouts.yaml", timeouts(10*time.Second, time.Duration(6+round)*time.Second))
				before := clusterUpdates(t, proxy)
				server = m.serve(firstReplica)
				eventually(t, "Envoy has the changed cluster", func() bool { return clusterUpdates(t, proxy) != before })
				begin := time.Now()
				eventually(t, "no cluster is warming", func() bool { return strings.Contains(clusterUpdates(t, proxy), "warming_clusters: 0\n") })
				if took := time.Since(begin); took > warms {
					t.Errorf("clusters are warm after %v", took)
				}
				server.waitConverged(1)
				tr.flows("backend-2")
			}
		})
	}
}

// clusterUpdates returns how many clusters were changed and are warming.
func clusterUpdates(t *testing.T, proxy *envoytest.Proxy) string {
	t.Helper()
	stats, err := proxy.Get("/stats?filter=^cluster_manager.(warming_clusters|cluster_modified)$")
	if err != nil {
		t.Fatal(err)
	}
	return stats
}

// withoutCache makes an Envoy forget the endpoints of a cluster that is changed, as releases
// before 1.32 do.
func withoutCache(b *bootstrapv3.Bootstrap) {
	b.LayeredRuntime = &bootstrapv3.LayeredRuntime{Layers: []*bootstrapv3.RuntimeLayer{{
		Name: "test", LayerSpecifier: &bootstrapv3.RuntimeLayer_StaticLayer{StaticLayer: &structpb.Struct{Fields: map[string]*structpb.Value{
			"envoy.restart_features.use_eds_cache_for_ads": structpb.NewBoolValue(false),
		}}},
	}}}
}
