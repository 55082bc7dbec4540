package translators

import (
	"cmp"
	"encoding/hex"
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	eventsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/health_check/event_sinks/file/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/kind/meshhealthcheck"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/core/xds"
)

// The settings of a check where a conf has none.
const (
	checkInterval      = time.Minute
	checkTimeout       = 15 * time.Second
	unhealthyThreshold = 5
	healthyThreshold   = 1
)

// meshHealthCheck translates MeshHealthCheck: the active checks of clusters. The check
// is the one for the destination's protocol, if the conf has it and it is not disabled,
// else the check of TCP: a connection, and bytes if they are set.
func meshHealthCheck() xds.Translator {
	return xds.Translator{
		Kind:    "MeshHealthCheck",
		Cluster: with(healthChecks),

		IgnoredByGRPC: ignoredByGRPC("gRPC clients do not check endpoints", ""),
	}
}

func healthChecks(c *xds.Cluster, e *results.Effective, check *meshhealthcheck.Conf) {
	if c.Client == xds.ProxylessGRPC {
		return
	}
	setPanic(c, e, check)
	m := &corev3.HealthCheck{
		Interval:           durationpb.New(checkInterval),
		Timeout:            durationpb.New(checkTimeout),
		UnhealthyThreshold: wrapperspb.UInt32(uint32(valueOr(check.UnhealthyThreshold, unhealthyThreshold))),
		HealthyThreshold:   wrapperspb.UInt32(uint32(valueOr(check.HealthyThreshold, healthyThreshold))),
	}
	setDuration(&m.Interval, check.Interval)
	setDuration(&m.Timeout, check.Timeout)
	setDuration(&m.InitialJitter, check.InitialJitter)
	setDuration(&m.IntervalJitter, check.IntervalJitter)
	m.IntervalJitterPercent = uint32(valueOr(check.IntervalJitterPercent, 0))
	m.NoTrafficInterval = m.Interval // Envoy's default is a minute, regardless of the interval
	setDuration(&m.NoTrafficInterval, check.NoTrafficInterval)
	if check.ReuseConnection != nil {
		m.ReuseConnection = wrapperspb.Bool(*check.ReuseConnection)
	}
	setEvents(c, e, m, check)
	setChecker(c, e, m, check)
	if m.HealthChecker == nil {
		return
	}
	c.Message.HealthChecks = []*corev3.HealthCheck{m}
	// Otherwise a removed endpoint stays in use while its checks succeed.
	c.Message.IgnoreHealthOnHostRemoval = true
}

// setPanic sets what happens if few endpoints are healthy. The threshold of a
// MeshCircuitBreaker, which was set before, applies if there is one (SPEC 11.5).
func setPanic(c *xds.Cluster, e *results.Effective, check *meshhealthcheck.Conf) {
	switch {
	case check.HealthyPanicThreshold == nil:
	case c.Message.GetCommonLbConfig().GetHealthyPanicThreshold() != nil:
		c.Warn(diag.ContradictingValues, e, "/healthyPanicThreshold", "the threshold of a MeshCircuitBreaker applies")
	default:
		commonLB(c.Message).HealthyPanicThreshold = percent(check.HealthyPanicThreshold)
	}
	if !isTrue(check.FailTrafficOnPanic) {
		return
	}
	hashes := c.Message.LbPolicy == clusterv3.Cluster_RING_HASH || c.Message.LbPolicy == clusterv3.Cluster_MAGLEV
	switch {
	case hashes:
		c.Warn(diag.NoEffectHere, e, "/failTrafficOnPanic", "RingHash and Maglev use all endpoints")
	case c.Message.GetCommonLbConfig().GetLocalityWeightedLbConfig() != nil:
		c.Warn(diag.NoEffectHere, e, "/failTrafficOnPanic", "it has no effect with the affinityTags of a MeshLoadBalancingStrategy")
	default:
		commonLB(c.Message).LocalityConfigSpecifier = &clusterv3.Cluster_CommonLbConfig_ZoneAwareLbConfig_{
			ZoneAwareLbConfig: &clusterv3.Cluster_CommonLbConfig_ZoneAwareLbConfig{FailTrafficOnPanic: true},
		}
	}
}

// setEvents writes changes of the state of endpoints to a file.
func setEvents(c *xds.Cluster, e *results.Effective, m *corev3.HealthCheck, check *meshhealthcheck.Conf) {
	if check.EventLogPath == nil {
		if isTrue(check.AlwaysLogHealthCheckFailures) {
			c.Warn(diag.NoEffectHere, e, "/alwaysLogHealthCheckFailures", "there is no eventLogPath")
		}
		return
	}
	m.EventLogger = []*corev3.TypedExtensionConfig{{
		Name:        "envoy.health_check.event_sinks.file",
		TypedConfig: message.Any(&eventsv3.HealthCheckEventFileSink{EventLogPath: string(*check.EventLogPath)}),
	}}
	m.AlwaysLogHealthCheckFailures = isTrue(check.AlwaysLogHealthCheckFailures)
}

// setChecker sets what a check is. It sets nothing if the check is disabled.
func setChecker(c *xds.Cluster, e *results.Effective, m *corev3.HealthCheck, check *meshhealthcheck.Conf) {
	http, grpc := c.Protocol == message.HTTP || c.Protocol == message.HTTP2, c.Protocol == message.GRPC
	switch {
	case http:
		c.WarnProtocol(e, "/grpc", "the protocol of the service is %s", c.Protocol)
	case grpc:
		c.WarnProtocol(e, "/http", "the protocol of the service is %s", c.Protocol)
	default:
		c.WarnHTTPFields(e, "the protocol of the service is TCP")
	}
	service := c.Destination.Tags.Value(resource.ServiceTag)
	switch {
	case http && check.HTTP != nil && !isTrue(check.HTTP.Disabled):
		c.WarnProtocol(e, "/tcp", "the endpoints are checked by HTTP requests")
		m.HealthChecker = &corev3.HealthCheck_HttpHealthCheck_{HttpHealthCheck: httpCheck(c, e, service, check.HTTP)}
	case grpc && check.GRPC != nil && !isTrue(check.GRPC.Disabled):
		c.WarnProtocol(e, "/tcp", "the endpoints are checked by the gRPC health service")
		m.HealthChecker = &corev3.HealthCheck_GrpcHealthCheck_{GrpcHealthCheck: grpcCheck(service, check.GRPC)}
	case check.TCP == nil || !isTrue(check.TCP.Disabled):
		m.HealthChecker = &corev3.HealthCheck_TcpHealthCheck_{TcpHealthCheck: tcpCheck(check.TCP)}
	}
}

// httpCheck returns the check by a GET request. Its host is the service, because Envoy's
// default is the name of the cluster, which is not a host name.
func httpCheck(c *xds.Cluster, e *results.Effective, service string, check *meshhealthcheck.HTTP) *corev3.HealthCheck_HttpHealthCheck {
	m := &corev3.HealthCheck_HttpHealthCheck{Host: service, Path: string(valueOr(check.Path, "/"))}
	if c.Protocol.IsHTTP2() {
		m.CodecClientType = typev3.CodecClientType_HTTP2
	}
	if h := check.RequestHeadersToAdd; h != nil {
		m.RequestHeadersToAdd = firstHeaders(h, conf.MaxHeaders)
		warnHeaders(&c.Report, e, "/http/requestHeadersToAdd", h, conf.MaxHeaders)
	}
	for _, status := range check.ExpectedStatuses {
		m.ExpectedStatuses = append(m.ExpectedStatuses, &typev3.Int64Range{Start: int64(status), End: int64(status) + 1})
	}
	return m
}

// grpcCheck returns the check by the gRPC health service.
func grpcCheck(service string, c *meshhealthcheck.GRPC) *corev3.HealthCheck_GrpcHealthCheck {
	return &corev3.HealthCheck_GrpcHealthCheck{
		Authority:   cmp.Or(valueOr(c.Authority, ""), service),
		ServiceName: valueOr(c.ServiceName, ""),
	}
}

// tcpCheck returns the check by a connection, and by bytes if the conf, which may be
// nil, has some.
func tcpCheck(c *meshhealthcheck.TCP) *corev3.HealthCheck_TcpHealthCheck {
	m := &corev3.HealthCheck_TcpHealthCheck{}
	if c == nil {
		return m
	}
	if send := valueOr(c.Send, ""); send != "" {
		m.Send = payload(send)
	}
	for _, bytes := range c.Receive {
		if bytes != "" {
			m.Receive = append(m.Receive, payload(bytes))
		}
	}
	return m
}

// payload returns bytes in hexadecimal: Envoy sends and expects nothing for bytes that
// are binary.
func payload(b meshhealthcheck.Base64) *corev3.HealthCheck_Payload {
	return &corev3.HealthCheck_Payload{Payload: &corev3.HealthCheck_Payload_Text{Text: hex.EncodeToString(b.Bytes())}}
}
