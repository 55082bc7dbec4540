package seal_test

import (
	"testing"
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/meshmatch/meshmatch/core/internal/xds/seal"
)

// A cluster is tuned by limits, timeouts and statistics alone: not by what finds its endpoints,
// chooses one, speaks to it or presents a certificate.
func TestIsTuned(t *testing.T) {
	original := &clusterv3.Cluster{Name: "passthrough/outbound", ClusterDiscoveryType: &clusterv3.Cluster_Type{Type: clusterv3.Cluster_ORIGINAL_DST}, LbPolicy: clusterv3.Cluster_CLUSTER_PROVIDED}
	for name, test := range map[string]struct {
		change func(c *clusterv3.Cluster)
		want   bool
	}{
		"nothing":    {func(*clusterv3.Cluster) {}, true},
		"thresholds": {func(c *clusterv3.Cluster) { c.CircuitBreakers = &clusterv3.CircuitBreakers{} }, true},
		"timeout":    {func(c *clusterv3.Cluster) { c.ConnectTimeout = durationpb.New(time.Second) }, true},
		"statistics": {func(c *clusterv3.Cluster) { c.AltStatName = "local/10.0.0.1/80" }, true},
		"outliers":   {func(c *clusterv3.Cluster) { c.OutlierDetection = &clusterv3.OutlierDetection{} }, true},
		"monitors": {func(c *clusterv3.Cluster) {
			c.OutlierDetection = &clusterv3.OutlierDetection{Monitors: []*corev3.TypedExtensionConfig{{}}}
		}, false},
		"keepalive": {func(c *clusterv3.Cluster) { c.UpstreamConnectionOptions = &clusterv3.UpstreamConnectionOptions{} }, true},
		"name":      {func(c *clusterv3.Cluster) { c.Name = "other" }, false},
		"discovery": {func(c *clusterv3.Cluster) { c.ClusterDiscoveryType = &clusterv3.Cluster_Type{} }, false},
		"choice":    {func(c *clusterv3.Cluster) { c.LbPolicy = clusterv3.Cluster_RANDOM }, false},
		"header": {func(c *clusterv3.Cluster) {
			c.LbConfig = &clusterv3.Cluster_OriginalDstLbConfig_{OriginalDstLbConfig: &clusterv3.Cluster_OriginalDstLbConfig{UseHttpHeader: true}}
		}, false},
		"source":           {func(c *clusterv3.Cluster) { c.UpstreamBindConfig = &corev3.BindConfig{} }, false},
		"transport socket": {func(c *clusterv3.Cluster) { c.TransportSocket = &corev3.TransportSocket{Name: "x"} }, false},
		"filters":          {func(c *clusterv3.Cluster) { c.Filters = []*clusterv3.Filter{{Name: "x"}} }, false},
		"health checks": {func(c *clusterv3.Cluster) {
			c.HealthChecks = []*corev3.HealthCheck{{HealthyThreshold: wrapperspb.UInt32(1)}}
		}, false},
	} {
		changed := proto.CloneOf(original)
		test.change(changed)
		if got := seal.IsTuned(original, changed); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
