package effect

// The columns, for rows with the same resources in several parts.
func in(http, tcp Resources) [NumParts]Resources { return [NumParts]Resources{http, tcp} }
func out(http, tcp Resources) [NumParts]Resources {
	return [NumParts]Resources{HTTPOutbound: http, TCPOutbound: tcp}
}
func proxy(r Resources) [NumParts]Resources { return [NumParts]Resources{Proxy: r} }
func everywhere(r Resources) [NumParts]Resources {
	return [NumParts]Resources{r, r, r, r}
}

var table = []Row{
	{"MeshAccessLog", "", [NumParts]Resources{Listener, Listener, Listener, Listener, Listener}}, // proxy: of passthrough

	{"MeshCircuitBreaker", "/connectionLimits", everywhere(Cluster)},
	{"MeshCircuitBreaker", "/connectionLimits/maxRequests", [NumParts]Resources{HTTPInbound: Cluster, HTTPOutbound: Cluster}},
	{"MeshCircuitBreaker", "/connectionLimits/maxRetries", [NumParts]Resources{HTTPInbound: Cluster, HTTPOutbound: Cluster}},
	{"MeshCircuitBreaker", "/outlierDetection", out(Cluster, Cluster)},

	{"MeshFaultInjection", "/http", in(Routes, 0)},
	{"MeshFaultInjection", "/http/2+", in(Listener|Routes, 0)}, // each needs a filter

	{"MeshHTTPRoute", "/rules", out(Routes|Cluster|Endpoints, 0)},

	{"MeshHealthCheck", "", out(Cluster, Cluster)},
	{"MeshHealthCheck", "/grpc", out(Cluster, 0)},
	{"MeshHealthCheck", "/http", out(Cluster, 0)},
	{"MeshHealthCheck", "/tcp", out(0, Cluster)},

	{"MeshLoadBalancingStrategy", "/hashPolicies", out(Routes, Listener)},
	{"MeshLoadBalancingStrategy", "/loadBalancer", out(Cluster, Cluster)},
	{"MeshLoadBalancingStrategy", "/loadBalancer/maglev/hashPolicies", out(Routes, Listener)},
	{"MeshLoadBalancingStrategy", "/loadBalancer/ringHash/hashPolicies", out(Routes, Listener)},
	{"MeshLoadBalancingStrategy", "/loadBalancer/type", out(Cluster|Routes, Cluster|Listener)}, // it decides whether policies hash
	{"MeshLoadBalancingStrategy", "/localityAwareness", out(Cluster|Endpoints, Cluster|Endpoints)},

	{"MeshMetric", "", proxy(Listener)},

	{"MeshPassthrough", "", proxy(Listener)},

	{"MeshProxyPatch", "/appendModifications/*/cluster", [NumParts]Resources{Cluster, Cluster, Cluster, Cluster, Cluster}},
	{"MeshProxyPatch", "/appendModifications/*/httpFilter", [NumParts]Resources{HTTPInbound: Listener, HTTPOutbound: Listener, Proxy: Listener}},
	{"MeshProxyPatch", "/appendModifications/*/listener", [NumParts]Resources{Listener, Listener, Listener, Listener, Listener}},
	{"MeshProxyPatch", "/appendModifications/*/networkFilter", [NumParts]Resources{Listener, Listener, Listener, Listener, Listener}},
	{"MeshProxyPatch", "/appendModifications/*/virtualHost", [NumParts]Resources{HTTPInbound: Routes, HTTPOutbound: Routes}},

	{"MeshRateLimit", "/local/http", in(Routes, 0)},
	{"MeshRateLimit", "/local/tcp", in(Listener, Listener)}, // a connection is counted before its requests

	{"MeshRetry", "/grpc", out(Routes, 0)},
	{"MeshRetry", "/http", out(Routes, 0)},
	{"MeshRetry", "/http/hostSelection", out(Routes|Endpoints, 0)},
	{"MeshRetry", "/tcp", out(0, Listener)},

	{"MeshTCPRoute", "/rules", out(Routes|Cluster|Endpoints, Listener|Cluster|Endpoints)},

	{"MeshTLS", "/mode", in(Listener|Extension, Listener)},
	{"MeshTLS", "/tlsCiphers", in(Listener, Listener)},
	{"MeshTLS", "/tlsVersion", in(Listener, Listener)},

	{"MeshTimeout", "/connectionTimeout", everywhere(Cluster)},
	{"MeshTimeout", "/http/maxConnectionDuration", [NumParts]Resources{HTTPInbound: Listener, HTTPOutbound: Cluster}},
	{"MeshTimeout", "/http/maxStreamDuration", [NumParts]Resources{HTTPInbound: Routes, HTTPOutbound: Routes}},
	{"MeshTimeout", "/http/requestHeadersTimeout", [NumParts]Resources{HTTPInbound: Listener, HTTPOutbound: Listener}},
	{"MeshTimeout", "/http/requestTimeout", [NumParts]Resources{HTTPInbound: Routes, HTTPOutbound: Routes}},
	{"MeshTimeout", "/http/streamIdleTimeout", [NumParts]Resources{HTTPInbound: Routes, HTTPOutbound: Routes}},
	{"MeshTimeout", "/idleTimeout", [NumParts]Resources{Listener | Cluster, Listener, Listener | Cluster, Listener}},

	{"MeshTrace", "", [NumParts]Resources{HTTPInbound: Listener, HTTPOutbound: Listener}},

	{"MeshTrafficPermission", "", [NumParts]Resources{HTTPInbound: Extension, TCPInbound: Listener, Proxy: Listener}}, // proxy: whether undeclared ports pass
}
