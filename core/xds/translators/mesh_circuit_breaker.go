package translators

import (
	"math"
	"slices"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/kind/meshcircuitbreaker"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/core/xds"
)

// meshCircuitBreaker translates MeshCircuitBreaker: connection limits and outlier
// detection of clusters. An inbound has connection limits alone, for all clients
// together, as its cluster is one endpoint.
func meshCircuitBreaker() xds.Translator {
	return xds.Translator{
		Kind:    "MeshCircuitBreaker",
		Cluster: with(clusterLimits),
		Inbound: inboundLimits,

		IgnoredByGRPC: slices.Concat(
			ignoredByGRPC("gRPC limits open requests only", "/connectionLimits/maxConnections", "/connectionLimits/maxConnectionPools",
				"/connectionLimits/maxPendingRequests", "/connectionLimits/maxRetries"),
			ignoredByGRPC("gRPC detects by success rate and failure percentage only", "/outlierDetection/detectors/totalFailures",
				"/outlierDetection/detectors/gatewayFailures", "/outlierDetection/detectors/localOriginFailures", "/outlierDetection/splitExternalAndLocalErrors"),
			ignoredByGRPC("gRPC has no panic mode", "/outlierDetection/healthyPanicThreshold"),
		),
	}
}

// noRequests is why limits of requests have no effect.
const noRequests = "the connections of a TCP service have no requests"

func clusterLimits(c *xds.Cluster, e *results.Effective, breaker *meshcircuitbreaker.Conf) {
	c.Message.CircuitBreakers = circuitBreakers(breaker.ConnectionLimits, c.Protocol)
	if !c.Protocol.IsHTTP() {
		c.WarnHTTPFields(e, noRequests)
	}
	if o := breaker.OutlierDetection; o != nil && !isTrue(o.Disabled) {
		c.Message.OutlierDetection = outlierDetection(c, e, o)
		if o.HealthyPanicThreshold != nil {
			commonLB(c.Message).HealthyPanicThreshold = percent(o.HealthyPanicThreshold)
		}
	}
}

// circuitBreakers returns the limits that a protocol has, with metrics of what remains of
// each; nil if there are none.
func circuitBreakers(conf *meshcircuitbreaker.ConnectionLimits, protocol message.Protocol) *clusterv3.CircuitBreakers {
	l := valueOr(conf, meshcircuitbreaker.ConnectionLimits{})
	if !protocol.IsHTTP() {
		l.MaxRequests, l.MaxRetries = nil, nil
	}
	if l == (meshcircuitbreaker.ConnectionLimits{}) {
		return nil
	}
	return &clusterv3.CircuitBreakers{Thresholds: []*clusterv3.CircuitBreakers_Thresholds{{
		MaxConnections:     number(l.MaxConnections),
		MaxConnectionPools: number(l.MaxConnectionPools),
		MaxPendingRequests: number(l.MaxPendingRequests),
		MaxRetries:         number(l.MaxRetries),
		MaxRequests:        number(l.MaxRequests),
		TrackRemaining:     true,
	}}}
}

// outlierDetection returns the detectors of a conf; nil if there are none. A detector
// that a conf does not have is off, even where it is on in Envoy by default.
func outlierDetection(c *xds.Cluster, e *results.Effective, o *meshcircuitbreaker.OutlierDetection) *clusterv3.OutlierDetection {
	d := o.Detectors
	if d == nil || *d == (meshcircuitbreaker.Detectors{}) {
		for _, field := range []string{"interval", "baseEjectionTime", "maxEjectionPercent", "splitExternalAndLocalErrors"} {
			c.Warn(diag.NoEffectHere, e, "/outlierDetection/"+field, "no endpoint is ejected without detectors")
		}
		return nil
	}
	split := isTrue(o.SplitExternalAndLocalErrors)
	rate, failures := valueOr(d.SuccessRate, meshcircuitbreaker.SuccessRate{}), valueOr(d.FailurePercentage, meshcircuitbreaker.FailurePercentage{})
	m := &clusterv3.OutlierDetection{
		SplitExternalLocalOriginErrors:         split,
		EnforcingConsecutive_5Xx:               enforced(d.TotalFailures != nil),
		EnforcingConsecutiveGatewayFailure:     enforced(d.GatewayFailures != nil),
		EnforcingConsecutiveLocalOriginFailure: enforced(d.LocalOriginFailures != nil && split),
		EnforcingSuccessRate:                   enforced(d.SuccessRate != nil),
		EnforcingLocalOriginSuccessRate:        enforced(d.SuccessRate != nil && split),
		EnforcingFailurePercentage:             enforced(d.FailurePercentage != nil),
		EnforcingFailurePercentageLocalOrigin:  enforced(d.FailurePercentage != nil && split),

		MaxEjectionPercent:             number(o.MaxEjectionPercent),
		Consecutive_5Xx:                number(valueOr(d.TotalFailures, meshcircuitbreaker.Consecutive{}).Consecutive),
		ConsecutiveGatewayFailure:      number(valueOr(d.GatewayFailures, meshcircuitbreaker.Consecutive{}).Consecutive),
		ConsecutiveLocalOriginFailure:  number(valueOr(d.LocalOriginFailures, meshcircuitbreaker.Consecutive{}).Consecutive),
		SuccessRateMinimumHosts:        number(rate.MinimumHosts),
		SuccessRateRequestVolume:       number(rate.RequestVolume),
		FailurePercentageMinimumHosts:  number(failures.MinimumHosts),
		FailurePercentageRequestVolume: number(failures.RequestVolume),
		FailurePercentageThreshold:     number(failures.Threshold),
	}
	setDuration(&m.Interval, o.Interval)
	setDuration(&m.BaseEjectionTime, o.BaseEjectionTime)
	if d.LocalOriginFailures != nil && !split {
		c.Warn(diag.NoEffectHere, e, "/outlierDetection/detectors/localOriginFailures", "it needs splitExternalAndLocalErrors")
	}
	if factor := rate.StandardDeviationFactor; factor != nil {
		thousandths := math.Round(factor.Float() * 1000)
		m.SuccessRateStdevFactor = wrapperspb.UInt32(uint32(min(max(thousandths, 1), math.MaxUint32)))
	}
	return m
}

// commonLB returns the settings that the load balancers have in common.
func commonLB(m *clusterv3.Cluster) *clusterv3.Cluster_CommonLbConfig {
	if m.CommonLbConfig == nil {
		m.CommonLbConfig = &clusterv3.Cluster_CommonLbConfig{}
	}
	return m.CommonLbConfig
}

// inboundLimits limits what is open to the workload. Items of `from` for some clients
// are warnings: the limits hold for all clients together.
func inboundLimits(i *xds.Inbound, conf xds.InboundConf) {
	if warnGRPC(i, conf) || conf.InboundConfig == nil {
		return
	}
	var e *results.Effective
	switch {
	case len(conf.Rules) > 0:
		e = conf.Rules[0].Effective
	case conf.From != nil:
		e = conf.From.Client(nil)
		for _, o := range conf.From.Origins() {
			if o.Policy.From[o.Index].TargetRef.Kind != resource.TargetMesh {
				i.WarnPolicy(diag.NoEffectHere, o.Policy, o.Index, "", "the limits of an inbound are those of all clients together; use Mesh")
			}
		}
	}
	breaker := results.MustConfOf[meshcircuitbreaker.Conf](e)
	if breaker == nil {
		return
	}
	i.Cluster.CircuitBreakers = circuitBreakers(breaker.ConnectionLimits, i.Protocol)
	if !i.Protocol.IsHTTP() {
		i.WarnInbound(e, "/connectionLimits/maxRequests", noRequests)
		i.WarnInbound(e, "/connectionLimits/maxRetries", noRequests)
	}
	if breaker.OutlierDetection != nil {
		i.Warn(diag.NoEffectHere, e, "/outlierDetection", "the workload is the only endpoint of an inbound")
	}
}

// enforced returns the percentage of Envoy that switches a detector on or off.
func enforced(on bool) *wrapperspb.UInt32Value {
	if on {
		return wrapperspb.UInt32(100)
	}
	return wrapperspb.UInt32(0)
}
