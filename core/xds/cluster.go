package xds

import (
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	httpv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/upstreams/http/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/variant"
	"github.com/meshmatch/meshmatch/core/xds/message"
)

// A Cluster is the draft of the cluster of a destination (SPEC 11.3).
type Cluster struct {
	report
	*client
	// GRPC reports that the cluster is for a client that is gRPC instead of Envoy.
	GRPC bool
	// Destination is that of the outbound or of a backend of a route.
	Destination variant.Destination
	Protocol    Protocol
	Message     *clusterv3.Cluster
	// HTTP are the options of HTTP connections; nil for TCP.
	HTTP *httpv3.HttpProtocolOptions
}

// clusterKey is all that the cluster of a destination depends on.
type clusterKey struct {
	destination *destination
	facts       *endpointFacts
	resolved    endpointsKey // if the endpoints have host names
	tls         clientTLS
	grpc        bool
	confs       *confList
}

// cluster returns the cluster of a destination.
func (b *Builder) cluster(key clusterKey, d *resource.Dataplane) *built {
	return b.clusters.get(key, d, func(client *client) *built {
		name := key.destination.name
		c := &Cluster{
			report: report{place: name}, client: client, GRPC: key.grpc,
			Destination: key.destination.Destination,
			Protocol:    protocolBetween(key.destination.Tags, key.facts),
			Message:     newCluster(name, OutboundConnectTimeout),
		}
		if c.Protocol.IsHTTP() {
			c.HTTP = newHTTPOptions(c.Protocol, OutboundIdleTimeout)
		}
		messages := []proto.Message{c.Message}
		if key.resolved == (endpointsKey{}) {
			useEDS(c.Message)
		} else if m := b.assignment(key.resolved, &c.report, client); key.grpc && len(m.Endpoints) == 0 {
			useEDS(c.Message) // gRPC rejects a host name that is none
			messages = append(messages, m)
		} else {
			resolve(c.Message)
			if key.grpc {
				c.Message.ClusterDiscoveryType = &clusterv3.Cluster_Type{Type: clusterv3.Cluster_LOGICAL_DNS}
			}
			c.Message.LoadAssignment = m
		}
		key.tls.secure(c.Message, key.facts)
		for i, t := range b.shape.cluster {
			c.warnIgnored(t, key.confs.own[i])
			if key.grpc {
				c.warnIgnoredByGRPC(t, key.confs.own[i])
			}
			t.Cluster(c, key.confs.own[i])
		}
		setHTTPOptions(c.Message, c.HTTP)
		return b.finish(&Part{report: c.report, Origin: OutboundOrigin, Tags: key.destination.Tags,
			Messages: messages, client: client, confs: key.confs.all()}, key.confs.finish)
	})
}

// useEDS makes the endpoints of a cluster a resource of their own.
func useEDS(c *clusterv3.Cluster) {
	c.ClusterDiscoveryType = &clusterv3.Cluster_Type{Type: clusterv3.Cluster_EDS}
	c.EdsClusterConfig = &clusterv3.Cluster_EdsClusterConfig{EdsConfig: fromADS()}
}

// protocolBetween returns the protocol of an outbound: that of its tag, else that of
// the endpoints if they agree, else TCP (SPEC 11.3).
func protocolBetween(tags resource.Tags, facts *endpointFacts) Protocol {
	if tag := tags.Value(resource.ProtocolTag); tag != "" {
		return protocolOf(tag)
	}
	return facts.protocol
}

func newCluster(name string, connect time.Duration) *clusterv3.Cluster {
	return &clusterv3.Cluster{Name: name, ConnectTimeout: durationpb.New(connect)}
}

// newHTTPOptions returns the options of HTTP connections to an upstream.
func newHTTPOptions(p Protocol, idle time.Duration) *httpv3.HttpProtocolOptions {
	explicit := &httpv3.HttpProtocolOptions_ExplicitHttpConfig{
		ProtocolConfig: &httpv3.HttpProtocolOptions_ExplicitHttpConfig_HttpProtocolOptions{
			HttpProtocolOptions: &corev3.Http1ProtocolOptions{},
		},
	}
	if p.IsHTTP2() {
		explicit.ProtocolConfig = &httpv3.HttpProtocolOptions_ExplicitHttpConfig_Http2ProtocolOptions{
			Http2ProtocolOptions: &corev3.Http2ProtocolOptions{},
		}
	}
	return &httpv3.HttpProtocolOptions{
		CommonHttpProtocolOptions: &corev3.HttpProtocolOptions{IdleTimeout: durationpb.New(idle)},
		UpstreamProtocolOptions:   &httpv3.HttpProtocolOptions_ExplicitHttpConfig_{ExplicitHttpConfig: explicit},
	}
}

// setHTTPOptions puts options, which may be nil, into a cluster.
func setHTTPOptions(c *clusterv3.Cluster, options *httpv3.HttpProtocolOptions) {
	if options == nil {
		return
	}
	if c.TypedExtensionProtocolOptions == nil {
		c.TypedExtensionProtocolOptions = map[string]*anypb.Any{}
	}
	c.TypedExtensionProtocolOptions["envoy.extensions.upstreams.http.v3.HttpProtocolOptions"] = message.Any(options)
}

// fromADS returns the source of resources that the server of the proxy sends.
func fromADS() *corev3.ConfigSource {
	return &corev3.ConfigSource{
		ResourceApiVersion:    corev3.ApiVersion_V3,
		ConfigSourceSpecifier: &corev3.ConfigSource_Ads{Ads: &corev3.AggregatedConfigSource{}},
	}
}
