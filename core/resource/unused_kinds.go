package resource

// unusedKinds are Kuma's own kinds that have no part in matching. Their
// documents are skipped and counted (SPEC 1.2), unless an embedder has a
// policy kind of the name.
var unusedKinds = map[string]bool{
	"AccessAudit": true, "AccessRole": true, "AccessRoleBinding": true, "Config": true, "ConfigMap": true,
	"ContainerPatch": true, "DataplaneInsight": true, "DataplaneOverview": true, "ExternalService": true,
	"GlobalSecret": true, "HostnameGenerator": true, "MeshExternalService": true, "MeshGateway": true,
	"MeshGatewayConfig": true, "MeshGatewayInstance": true, "MeshGatewayRoute": true, "MeshGlobalRateLimit": true,
	"MeshInsight": true, "MeshMultiZoneService": true, "MeshOPA": true, "MeshOpenTelemetryBackend": true,
	"MeshOverview": true, "MeshService": true, "MeshZoneAddress": true, "OPAPolicy": true, "Secret": true,
	"ServiceInsight": true, "ServiceOverview": true, "VirtualOutbound": true, "Workload": true,
	"WorkloadInsight": true, "Zone": true, "ZoneEgress": true, "ZoneEgressInsight": true, "ZoneEgressOverview": true,
	"ZoneIngress": true, "ZoneIngressInsight": true, "ZoneIngressOverview": true, "ZoneInsight": true,
	"ZoneOverview": true,
}

// replacedKinds are the kinds of Kuma's first policies, with the kinds that
// replace them. Their documents are skipped like those of unusedKinds, with a
// warning, as what they configure is missing from every answer.
var replacedKinds = map[string]string{
	"CircuitBreaker":    "MeshCircuitBreaker",
	"FaultInjection":    "MeshFaultInjection",
	"HealthCheck":       "MeshHealthCheck",
	"ProxyTemplate":     "MeshProxyPatch",
	"RateLimit":         "MeshRateLimit",
	"Retry":             "MeshRetry",
	"Timeout":           "MeshTimeout",
	"TrafficLog":        "MeshAccessLog",
	"TrafficPermission": "MeshTrafficPermission",
	"TrafficRoute":      "MeshHTTPRoute",
	"TrafficTrace":      "MeshTrace",
}
