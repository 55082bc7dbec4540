package translators

import (
	"fmt"
	"slices"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	leastrequestv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/load_balancing_policies/least_request/v3"
	roundrobinv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/load_balancing_policies/round_robin/v3"
	wrrlocalityv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/load_balancing_policies/wrr_locality/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	strategy "github.com/meshmatch/meshmatch/core/kind/meshloadbalancingstrategy"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/core/xds"
)

// noGRPC is why a kind for the proxy has no effect on gRPC.
const noGRPC = "gRPC has no such feature; only Envoy has"

// ignoredByGRPC returns fields without effect on gRPC for one reason.
func ignoredByGRPC(reason string, fields ...string) (list []xds.IgnoredField) {
	for _, field := range fields {
		list = append(list, xds.IgnoredField{Field: field, Reason: reason})
	}
	return list
}

// grpcLoadBalancer sets the load balancer of a gRPC cluster: the closest one that gRPC has.
// Implementations in some languages have fewer, so least-request is the first of two in a
// list.
func grpcLoadBalancer(c *xds.Cluster, e *results.Effective, lb *strategy.LoadBalancer) {
	switch lb.Type {
	case strategy.LeastRequestType:
		least := &leastrequestv3.LeastRequest{}
		if lb.LeastRequest != nil {
			least.ChoiceCount = number(lb.LeastRequest.ChoiceCount)
		}
		c.Message.LoadBalancingPolicy = policies(&wrrlocalityv3.WrrLocality{
			EndpointPickingPolicy: policies(least, &roundrobinv3.RoundRobin{}),
		})
	case strategy.RandomType:
		c.Warn(diag.NotInGRPC, e, "/loadBalancer", "gRPC has no load balancer Random: it uses RoundRobin")
	case strategy.RingHashType:
		conf := valueOr(lb.RingHash, strategy.RingHash{})
		if valueOr(conf.HashFunction, "") == strategy.MurmurHash2 {
			c.Warn(diag.NotInGRPC, e, "/loadBalancer/ringHash/hashFunction", "gRPC has the hash function XXHash only")
			conf.HashFunction = nil
		}
		setRing(c, e, &conf)
	case strategy.MaglevType:
		c.Warn(diag.NotInGRPC, e, "/loadBalancer", "gRPC has no load balancer Maglev: it uses RingHash")
		setRing(c, e, &strategy.RingHash{})
	}
}

func setRing(c *xds.Cluster, e *results.Effective, r *strategy.RingHash) {
	c.Message.LbPolicy = clusterv3.Cluster_RING_HASH
	c.Message.LbConfig = &clusterv3.Cluster_RingHashLbConfig_{RingHashLbConfig: ringHash(c, e, r)}
}

// policies returns load balancers in the form of a list. A client uses the first that it
// has.
func policies(list ...proto.Message) *clusterv3.LoadBalancingPolicy {
	m := &clusterv3.LoadBalancingPolicy{}
	for _, policy := range list {
		m.Policies = append(m.Policies, &clusterv3.LoadBalancingPolicy_Policy{TypedExtensionConfig: &corev3.TypedExtensionConfig{
			Name: string(policy.ProtoReflect().Descriptor().FullName()), TypedConfig: message.Any(policy),
		}})
	}
	return m
}

// channelKey is the key of filter state under which gRPC has the id of the channel.
const channelKey = "io.grpc.channel_id"

// grpcHash returns the policy that gRPC has instead of a hash policy, and false if it has
// none. What a connection is for a proxy is a channel for a gRPC client.
func grpcHash(p strategy.HashPolicy) (strategy.HashPolicy, bool) {
	switch p.Type {
	case strategy.HeaderType:
		return p, true
	case strategy.ConnectionType, strategy.SourceIPType:
		return strategy.HashPolicy{Type: strategy.FilterStateType, Terminal: p.Terminal, FilterState: &strategy.FilterState{Key: channelKey}}, true
	case strategy.FilterStateType:
		return p, p.FilterState.Key == channelKey
	}
	return p, false
}

// unseenByGRPC returns why no call matches the conditions of a route, "" if one may.
func (m ruleMatch) unseenByGRPC() string {
	switch {
	case len(m.QueryParams) > 0:
		return "has query parameters, and gRPC calls have none"
	case valueOr(m.Method, grpcMethod) != grpcMethod:
		return fmt.Sprintf("is for the method %s, and gRPC calls have %s", *m.Method, grpcMethod)
	case slices.ContainsFunc(m.Headers, func(h conf.HeaderMatch) bool { return h.Name.IsHost() }):
		return "is about the host, which routes of gRPC do not see"
	}
	return ""
}

// grpcMethod is the method of all calls.
const grpcMethod = "POST"
