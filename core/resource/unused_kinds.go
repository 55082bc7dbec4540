package resource

// unusedKinds are kinds of Kuma on which no answer depends. Their documents are
// skipped and counted (SPEC 1.2), unless an embedder has a policy kind with the
// name.
var unusedKinds = map[string]bool{
	"AccessAudit": true, "AccessRole": true, "AccessRoleBinding": true, "Config": true, "ConfigMap": true,
	"ContainerPatch": true, "DataplaneInsight": true, "DataplaneOverview": true, "GlobalSecret": true,
	"MeshGatewayConfig": true, "MeshGatewayInstance": true, "MeshInsight": true, "MeshOverview": true,
	"ServiceInsight": true, "ServiceOverview": true, "WorkloadInsight": true, "ZoneEgressInsight": true,
	"ZoneEgressOverview": true, "ZoneIngressInsight": true, "ZoneIngressOverview": true, "ZoneInsight": true,
	"ZoneOverview": true,
}

// replacedKinds maps kinds that are not read, although they configure proxies, to their
// replacements. Their documents are counted separately from unusedKinds, with a
// warning, because their configuration is missing from every answer.
var replacedKinds = map[string]string{
	"CircuitBreaker":      "MeshCircuitBreaker",
	"ExternalService":     "MeshExternalService",
	"FaultInjection":      "MeshFaultInjection",
	"HealthCheck":         "MeshHealthCheck",
	"MeshGlobalRateLimit": "MeshRateLimit",
	"MeshOPA":             "MeshTrafficPermission",
	"OPAPolicy":           "MeshTrafficPermission",
	"ProxyTemplate":       "MeshProxyPatch",
	"RateLimit":           "MeshRateLimit",
	"Retry":               "MeshRetry",
	"Timeout":             "MeshTimeout",
	"TrafficLog":          "MeshAccessLog",
	"TrafficPermission":   "MeshTrafficPermission",
	"TrafficRoute":        "MeshHTTPRoute",
	"TrafficTrace":        "MeshTrace",
	"VirtualOutbound":     "HostnameGenerator",
}

// proposedKinds maps the names of kinds in Kuma's first proposal (000, "Rolling out"), which have
// other names today, to these.
var proposedKinds = map[string]string{
	"MeshTrafficRoute":    "MeshHTTPRoute or MeshTCPRoute",
	"MeshHTTPFault":       "MeshFaultInjection",
	"MeshRequestRetry":    "MeshRetry",
	"MeshUpstreamTimeout": "MeshTimeout",
	"MeshTracing":         "MeshTrace",
	"MeshLogging":         "MeshAccessLog",
	"MeshMetrics":         "MeshMetric",
	"MeshEnvoyTemplate":   "MeshProxyPatch",
	"MeshVirtualOutbound": "HostnameGenerator",
}

// sharedKinds are kinds of objects that other systems also have. A document of
// another API group belongs to such a system.
var sharedKinds = map[string]bool{
	WorkloadKind: true, ConfigKind: true, SecretKind: true, ZoneKind: true, MeshServiceKind: true, MeshGatewayKind: true,
}
