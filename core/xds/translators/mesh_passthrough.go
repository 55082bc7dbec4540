package translators

import (
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	originaldstv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/listener/original_dst/v3"
	tcpv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/tcp_proxy/v3"
	httpv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/upstreams/http/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/internal/xds/seal"
	"github.com/meshmatch/meshmatch/core/kind/meshpassthrough"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/core/xds"
)

// The names of the listeners to which connections are redirected, and of the clusters
// that connect to the original destination (SPEC 11.4).
const (
	inboundPassthrough  = "passthrough/inbound"
	outboundPassthrough = "passthrough/outbound"
)

// The source address of connections to ports of the workload that are no inbounds. It
// keeps them from being redirected to the proxy again.
const loopbackSource, loopbackSource6 = "127.0.0.6", "::6"

// passthroughListeners translates MeshPassthrough: the listeners at the redirect ports of a
// dataplane with transparent proxying. They hand connections to the listeners of
// outbounds and inbounds, and connect the others to their original destination, if
// the policy permits it.
func passthroughListeners(p *xds.Proxy, e *results.Effective) {
	proxy := p.TransparentProxy
	if proxy == nil {
		// A builtin gateway has no transparent proxy, and policies for the whole mesh select
		// it too.
		if gateway := p.Dataplane.Gateway; e != nil && (gateway == nil || !gateway.Builtin) {
			p.Warn(diag.AbsentDependency, e, "", "the dataplane has no transparentProxying")
		}
		return
	}
	if proxy.RedirectPortInbound != 0 {
		// The ports of inbounds and of their workloads have listeners; these are the others
		// (SPEC 11.5).
		chains := append(closedChains(p.ClosedPorts), &listenerv3.FilterChain{Filters: toOriginal(inboundPassthrough)})
		if !p.UndeclaredPass {
			chains = nil
		}
		listener := redirected(inboundPassthrough, proxy, proxy.RedirectPortInbound, corev3.TrafficDirection_INBOUND, chains)
		part := p.Add(xds.PassthroughOrigin, listener,
			originalDestination(inboundPassthrough, &corev3.BindConfig{
				SourceAddress:        message.SocketAddress(loopbackSource, 0).GetSocketAddress(),
				ExtraSourceAddresses: []*corev3.ExtraSourceAddress{{Address: message.SocketAddress(loopbackSource6, 0).GetSocketAddress()}},
			}))
		switch {
		case !p.UndeclaredPass:
			part.Sealed = seal.New(listener, []seal.Chain{{Network: len(listener.FilterChains[0].Filters)}})
		case len(p.ClosedPorts) > 0:
			part.Messages = append(part.Messages, xds.NoCluster())
			decided := make([]seal.Chain, len(listener.FilterChains)) // the last one passes
			for i := range p.ClosedPorts {
				decided[i].Network = len(listener.FilterChains[i].Filters)
			}
			part.Sealed = seal.New(listener, decided)
		}
	}
	if proxy.RedirectPortOutbound == 0 {
		return
	}
	passthrough := results.MustConfOf[meshpassthrough.Conf](e)
	resolver := resolverOf(proxy, p.PassthroughLogs)
	chains, ok := passthroughChains(passthrough, p.PassthroughOff, resolver)
	if !ok {
		p.Warn(diag.PastLimit, e, "/appendMatch", "the matches need more than %d filter chains; nothing passes", maxPassthroughChains)
	}
	listener := redirected(outboundPassthrough, proxy, proxy.RedirectPortOutbound, corev3.TrafficDirection_OUTBOUND, chains)
	inspect(listener, passthrough)
	messages := []proto.Message{listener, originalDestination(outboundPassthrough, nil)}
	if resolves(passthrough) {
		messages = append(messages, resolver.cluster())
	}
	p.Add(xds.PassthroughOrigin, messages...)
	for _, c := range p.Clusters { // of the collectors of logs
		p.Add(xds.CollectorOrigin, c)
	}
}

// closedChains returns the filter chains that close connections to ports of the workload. An
// inbound has the port at the addresses of the dataplane, so these are connections to an
// address that the dataplane does not name.
func closedChains(ports []uint32) (chains []*listenerv3.FilterChain) {
	for _, port := range ports {
		chains = append(chains, &listenerv3.FilterChain{
			FilterChainMatch: &listenerv3.FilterChainMatch{DestinationPort: wrapperspb.UInt32(port)},
			Filters:          toOriginal(xds.NoCluster().Name),
		})
	}
	return chains
}

// passthroughChains returns the filter chains of what is permitted; without a policy that
// is everything, unless the Mesh turns passthrough off. A connection that no chain matches
// is closed. It returns false if the chains would be too many.
func passthroughChains(passthrough *meshpassthrough.Conf, off bool, r resolver) ([]*listenerv3.FilterChain, bool) {
	all := []*listenerv3.FilterChain{{Filters: r.asItIs()}}
	switch {
	case passthrough == nil && off:
		return nil, true
	case passthrough == nil:
		return all, true
	}
	switch valueOr(passthrough.PassthroughMode, meshpassthrough.None) {
	case meshpassthrough.All:
		return all, true
	case meshpassthrough.Matched:
		return matchedChains(passthrough.AppendMatch, r)
	}
	return nil, true
}

// redirected returns a listener at a redirect port. It hands a connection to the
// listener at the connection's original destination, if there is one.
func redirected(name string, proxy *resource.TransparentProxy, port uint32, direction corev3.TrafficDirection, chains []*listenerv3.FilterChain) *listenerv3.Listener {
	address := message.SocketAddress("0.0.0.0", port)
	switch proxy.IPFamilyMode {
	case "DualStack":
		address = message.SocketAddress("::", port)
		address.GetSocketAddress().Ipv4Compat = true
	case "IPv6":
		address = message.SocketAddress("::", port)
	}
	if len(chains) == 0 { // a listener needs one; no connection is to the broadcast address
		chains = []*listenerv3.FilterChain{{
			FilterChainMatch: &listenerv3.FilterChainMatch{PrefixRanges: []*corev3.CidrRange{
				{AddressPrefix: "255.255.255.255", PrefixLen: wrapperspb.UInt32(32)},
			}},
			Filters: toOriginal(name),
		}}
	}
	return &listenerv3.Listener{
		Name: name, Address: address, TrafficDirection: direction,
		UseOriginalDst: wrapperspb.Bool(true),
		FilterChains:   chains,
		ListenerFilters: []*listenerv3.ListenerFilter{
			message.ListenerFilter("envoy.filters.listener.original_dst", &originaldstv3.OriginalDst{}),
		},
	}
}

// toOriginal returns the filters that forward a connection as it is.
func toOriginal(cluster string) []*listenerv3.Filter {
	return forwarding(cluster).List()
}

// forwarding returns the draft of filters that forward a connection to a cluster.
func forwarding(cluster string) *xds.Filters {
	return &xds.Filters{TCP: &tcpv3.TcpProxy{
		StatPrefix:       "passthrough",
		ClusterSpecifier: &tcpv3.TcpProxy_Cluster{Cluster: cluster},
		IdleTimeout:      durationpb.New(message.OutboundIdleTimeout),
	}}
}

// originalDestination returns a cluster that connects to the client's original destination.
func originalDestination(name string, bind *corev3.BindConfig) *clusterv3.Cluster {
	return &clusterv3.Cluster{
		Name:                 name,
		ConnectTimeout:       durationpb.New(message.OutboundConnectTimeout),
		ClusterDiscoveryType: &clusterv3.Cluster_Type{Type: clusterv3.Cluster_ORIGINAL_DST},
		LbPolicy:             clusterv3.Cluster_CLUSTER_PROVIDED,
		UpstreamBindConfig:   bind,
		TypedExtensionProtocolOptions: map[string]*anypb.Any{
			"envoy.extensions.upstreams.http.v3.HttpProtocolOptions": sameProtocol(),
		},
	}
}

// sameProtocol returns the options of a cluster that speaks what its clients speak.
func sameProtocol() *anypb.Any {
	return message.Any(&httpv3.HttpProtocolOptions{
		UpstreamProtocolOptions: &httpv3.HttpProtocolOptions_UseDownstreamProtocolConfig{
			UseDownstreamProtocolConfig: &httpv3.HttpProtocolOptions_UseDownstreamHttpConfig{
				HttpProtocolOptions:  &corev3.Http1ProtocolOptions{},
				Http2ProtocolOptions: &corev3.Http2ProtocolOptions{},
			},
		},
	})
}
