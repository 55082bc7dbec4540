package driver

import (
	"net"
	"net/netip"
	"testing"
	"time"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	httpv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/upstreams/http/v3"
	"github.com/envoyproxy/go-control-plane/pkg/test/resource/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
)

// bootstrap returns the content of go-control-plane's sample/bootstrap-ads.yaml or
// sample/bootstrap-delta-ads.yaml: clusters and listeners are from ADS, and the clusters of the
// server and of access logs are static.
func bootstrap(t *testing.T, mode string, server, accessLog net.Addr) []byte {
	t.Helper()
	ads := &corev3.ConfigSource{
		ResourceApiVersion:    corev3.ApiVersion_V3,
		ConfigSourceSpecifier: &corev3.ConfigSource_Ads{Ads: &corev3.AggregatedConfigSource{}},
	}
	protocol := corev3.ApiConfigSource_GRPC
	if mode == resource.DeltaAds {
		protocol = corev3.ApiConfigSource_DELTA_GRPC
	}
	config, err := protojson.Marshal(&bootstrapv3.Bootstrap{
		Node:  &corev3.Node{Id: node, Cluster: "test-cluster"},
		Admin: &bootstrapv3.Admin{Address: socket(t, "127.0.0.1:0")},
		DynamicResources: &bootstrapv3.Bootstrap_DynamicResources{
			AdsConfig: &corev3.ApiConfigSource{
				ApiType: protocol, TransportApiVersion: corev3.ApiVersion_V3, SetNodeOnFirstMessageOnly: true,
				GrpcServices: []*corev3.GrpcService{{TargetSpecifier: &corev3.GrpcService_EnvoyGrpc_{
					EnvoyGrpc: &corev3.GrpcService_EnvoyGrpc{ClusterName: resource.XdsCluster},
				}}},
			},
			CdsConfig: ads, LdsConfig: ads,
		},
		StaticResources: &bootstrapv3.Bootstrap_StaticResources{Clusters: []*clusterv3.Cluster{
			static(t, resource.XdsCluster, server), static(t, resource.AlsCluster, accessLog),
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// static returns a cluster of HTTP/2 with one endpoint.
func static(t *testing.T, name string, address net.Addr) *clusterv3.Cluster {
	t.Helper()
	endpoints := resource.MakeEndpoint(name, 0)
	endpoints.GetEndpoints()[0].GetLbEndpoints()[0].GetEndpoint().Address = socket(t, address.String())
	http2, err := anypb.New(&httpv3.HttpProtocolOptions{UpstreamProtocolOptions: &httpv3.HttpProtocolOptions_ExplicitHttpConfig_{
		ExplicitHttpConfig: &httpv3.HttpProtocolOptions_ExplicitHttpConfig{
			ProtocolConfig: &httpv3.HttpProtocolOptions_ExplicitHttpConfig_Http2ProtocolOptions{Http2ProtocolOptions: &corev3.Http2ProtocolOptions{}},
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return &clusterv3.Cluster{
		Name: name, ConnectTimeout: durationpb.New(time.Second), LoadAssignment: endpoints,
		TypedExtensionProtocolOptions: map[string]*anypb.Any{"envoy.extensions.upstreams.http.v3.HttpProtocolOptions": http2},
	}
}

func socket(t *testing.T, address string) *corev3.Address {
	t.Helper()
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		t.Fatal(err)
	}
	return &corev3.Address{Address: &corev3.Address_SocketAddress{SocketAddress: &corev3.SocketAddress{
		Address: at.Addr().String(), PortSpecifier: &corev3.SocketAddress_PortValue{PortValue: uint32(at.Port())},
	}}}
}
