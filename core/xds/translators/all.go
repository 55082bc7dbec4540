package translators

import (
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/core/xds"
)

// All returns the translators of the built-in kinds.
func All() []xds.Translator {
	return []xds.Translator{
		meshHTTPRoute(),
		meshTCPRoute(),
		meshAccessLog(),
		{Kind: permission.KindName, Inbound: unseenPermissions, Chain: permissions},
		{Kind: "MeshTLS", Inbound: inboundTLS},
		{Kind: "MeshRateLimit", Chain: rateLimits},
		{Kind: "MeshFaultInjection", Chain: faults},
		meshTimeout(),
		meshRetry(),
		meshLoadBalancingStrategy(),
		meshCircuitBreaker(),
		meshHealthCheck(),
		meshTrace(),
		meshMetric(),
		{Kind: "MeshPassthrough", Proxy: passthroughListeners, IgnoredByGRPC: ignoredByGRPC(noGRPC, "")},
		meshProxyPatch(),
	}
}

// with returns a function of a translator that calls another one with the conf, and only
// if there is one.
func with[Draft, Conf any](shape func(Draft, *results.Effective, *Conf)) func(Draft, *results.Effective) {
	return func(draft Draft, e *results.Effective) {
		if conf := results.MustConfOf[Conf](e); conf != nil {
			shape(draft, e, conf)
		}
	}
}
