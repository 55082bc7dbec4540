package translators

import (
	"slices"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/meshmatch/meshmatch/core/diag"
	strategy "github.com/meshmatch/meshmatch/core/kind/meshloadbalancingstrategy"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/core/xds"
)

// meshLoadBalancingStrategy translates MeshLoadBalancingStrategy: the load balancer of
// clusters, what routes hash, and the localities of endpoints with their priorities.
func meshLoadBalancingStrategy() xds.Translator {
	return xds.Translator{
		Kind:      "MeshLoadBalancingStrategy",
		Cluster:   with(loadBalancer),
		Endpoints: with(localities),
		Route:     with(routeHashes),
		Outbound:  with(connectionHash),
		Zones:     failoverZones,
		Tags:      affinityKeys,
		IgnoredByGRPC: slices.Concat(
			ignoredByGRPC("gRPC uses the next group if no endpoint of the one before is reached", "/localityAwareness/crossZone/failoverThreshold"),
			ignoredByGRPC("gRPC endpoints have no weights of their own", "/loadBalancer/leastRequest/activeRequestBias"),
			ignoredByGRPC("gRPC has a ring instead", "/loadBalancer/maglev/tableSize"),
		),
	}
}

func loadBalancer(c *xds.Cluster, e *results.Effective, conf *strategy.Conf) {
	if len(affinityTags(conf)) > 0 {
		commonLB(c.Message).LocalityConfigSpecifier = &clusterv3.Cluster_CommonLbConfig_LocalityWeightedLbConfig_{
			LocalityWeightedLbConfig: &clusterv3.Cluster_CommonLbConfig_LocalityWeightedLbConfig{},
		}
	}
	lb := conf.LoadBalancer
	if lb == nil {
		return
	}
	if c.Client == xds.ProxylessGRPC {
		grpcLoadBalancer(c, e, lb)
		return
	}
	switch lb.Type {
	case strategy.LeastRequestType:
		c.Message.LbPolicy = clusterv3.Cluster_LEAST_REQUEST
		if lb.LeastRequest != nil {
			c.Message.LbConfig = &clusterv3.Cluster_LeastRequestLbConfig_{LeastRequestLbConfig: leastRequest(lb.LeastRequest)}
		}
	case strategy.RandomType:
		c.Message.LbPolicy = clusterv3.Cluster_RANDOM
	case strategy.RingHashType:
		c.Message.LbPolicy = clusterv3.Cluster_RING_HASH
		if lb.RingHash != nil {
			c.Message.LbConfig = &clusterv3.Cluster_RingHashLbConfig_{RingHashLbConfig: ringHash(c, e, lb.RingHash)}
		}
	case strategy.MaglevType:
		c.Message.LbPolicy = clusterv3.Cluster_MAGLEV
		if lb.Maglev != nil && lb.Maglev.TableSize != nil {
			c.Message.LbConfig = &clusterv3.Cluster_MaglevLbConfig_{MaglevLbConfig: &clusterv3.Cluster_MaglevLbConfig{
				TableSize: wrapperspb.UInt64(uint64(*lb.Maglev.TableSize)),
			}}
		}
	}
}

func leastRequest(l *strategy.LeastRequest) *clusterv3.Cluster_LeastRequestLbConfig {
	m := &clusterv3.Cluster_LeastRequestLbConfig{ChoiceCount: number(l.ChoiceCount)}
	if l.ActiveRequestBias != nil {
		m.ActiveRequestBias = &corev3.RuntimeDouble{
			DefaultValue: l.ActiveRequestBias.Float(),
			RuntimeKey:   "upstream.least_request.active_request_bias", // required, and not set
		}
	}
	return m
}

// The sizes of a ring where a conf has none.
const (
	minRingSize = 1024
	maxRingSize = 8_000_000
)

// ringHash returns the ring. Items of several policies may set a minimum size above the
// maximum, which Envoy refuses.
func ringHash(c *xds.Cluster, e *results.Effective, r *strategy.RingHash) *clusterv3.Cluster_RingHashLbConfig {
	least, most := uint64(minRingSize), uint64(maxRingSize)
	if r.MaxRingSize != nil {
		most = uint64(*r.MaxRingSize)
		least = min(least, most)
	}
	if r.MinRingSize != nil {
		if least = uint64(*r.MinRingSize); least > most {
			c.Warn(diag.ContradictingValues, e, "/loadBalancer/ringHash/minRingSize", "it is greater than maxRingSize (%d), which applies", most)
			least = most
		}
	}
	m := &clusterv3.Cluster_RingHashLbConfig{
		MinimumRingSize: wrapperspb.UInt64(least), MaximumRingSize: wrapperspb.UInt64(most),
	}
	if valueOr(r.HashFunction, "") == strategy.MurmurHash2 {
		m.HashFunction = clusterv3.Cluster_RingHashLbConfig_MURMUR_HASH_2
	}
	return m
}
