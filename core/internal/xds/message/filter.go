package message

import (
	"time"

	xdsmatcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	matchingv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/common/matching/v3"
	compositev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/composite/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	tcpv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/tcp_proxy/v3"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// NewManager returns a connection manager that fetches its routes by RDS. It normalizes
// paths, so that a route of the client and the inbound of the server see the same path.
func NewManager(statPrefix, routes string, idle, streamIdle time.Duration) *hcmv3.HttpConnectionManager {
	return &hcmv3.HttpConnectionManager{
		StatPrefix: statPrefix,
		RouteSpecifier: &hcmv3.HttpConnectionManager_Rds{
			Rds: &hcmv3.Rds{ConfigSource: FromADS(), RouteConfigName: routes},
		},
		CommonHttpProtocolOptions: &corev3.HttpProtocolOptions{IdleTimeout: durationpb.New(idle)},
		StreamIdleTimeout:         durationpb.New(streamIdle),
		NormalizePath:             wrapperspb.Bool(true),
		MergeSlashes:              true,
		UpgradeConfigs:            []*hcmv3.HttpConnectionManager_UpgradeConfig{{UpgradeType: "websocket"}},
	}
}

// Composite returns the config of an HTTP filter that runs the filter which the matcher
// chooses for a request. If the matcher is nil, routes must have one.
func Composite(matcher *xdsmatcherv3.Matcher) *matchingv3.ExtensionWithMatcher {
	return &matchingv3.ExtensionWithMatcher{
		ExtensionConfig: &corev3.TypedExtensionConfig{Name: "composite", TypedConfig: Any(&compositev3.Composite{})},
		XdsMatcher:      matcher,
	}
}

func NewTCPProxy(statPrefix, cluster string, idle time.Duration) *tcpv3.TcpProxy {
	return &tcpv3.TcpProxy{
		StatPrefix:       statPrefix,
		ClusterSpecifier: &tcpv3.TcpProxy_Cluster{Cluster: cluster},
		IdleTimeout:      durationpb.New(idle),
	}
}
