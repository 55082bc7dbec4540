package translators

import "github.com/meshmatch/meshmatch/core/xds"

// All returns the translators of the built-in kinds.
func All() []xds.Translator {
	return []xds.Translator{
		meshHTTPRoute(),
		meshTCPRoute(),
		meshAccessLog(),
		meshTrafficPermission(),
		meshTLS(),
		meshRateLimit(),
		meshFaultInjection(),
		meshTimeout(),
		meshRetry(),
		meshLoadBalancingStrategy(),
		meshCircuitBreaker(),
		meshHealthCheck(),
		meshTrace(),
		meshMetric(),
		meshPassthrough(),
		meshProxyPatch(),
	}
}
