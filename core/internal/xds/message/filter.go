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
	var m struct {
		manager          hcmv3.HttpConnectionManager
		kind             hcmv3.HttpConnectionManager_Rds
		rds              hcmv3.Rds
		ads              adsSource
		options          corev3.HttpProtocolOptions
		idle, streamIdle durationpb.Duration
		yes              wrapperspb.BoolValue
		websocket        hcmv3.HttpConnectionManager_UpgradeConfig
		upgrades         [1]*hcmv3.HttpConnectionManager_UpgradeConfig
	}
	m.rds.ConfigSource, m.rds.RouteConfigName = m.ads.source(), routes
	m.kind.Rds = &m.rds
	m.options.IdleTimeout = set(&m.idle, idle)
	m.yes.Value = true
	m.websocket.UpgradeType = "websocket"
	m.upgrades[0] = &m.websocket
	h := &m.manager
	h.StatPrefix, h.RouteSpecifier, h.CommonHttpProtocolOptions = statPrefix, &m.kind, &m.options
	h.StreamIdleTimeout, h.NormalizePath, h.MergeSlashes, h.UpgradeConfigs = set(&m.streamIdle, streamIdle), &m.yes, true, m.upgrades[:]
	return h
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
