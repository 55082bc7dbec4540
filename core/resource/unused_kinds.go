package resource

// unusedKinds are Kuma's own kinds on which no answer depends. Their documents are
// skipped and counted (SPEC 1.2), unless an embedder has a policy kind of the name.
var unusedKinds = map[string]bool{
	"AccessAudit": true, "AccessRole": true, "AccessRoleBinding": true, "Config": true, "ConfigMap": true,
	"ContainerPatch": true, "DataplaneInsight": true, "DataplaneOverview": true, "GlobalSecret": true,
	"MeshGatewayConfig": true, "MeshGatewayInstance": true, "MeshInsight": true, "MeshOverview": true, "Secret": true,
	"ServiceInsight": true, "ServiceOverview": true, "WorkloadInsight": true, "ZoneEgressInsight": true,
	"ZoneEgressOverview": true, "ZoneIngressInsight": true, "ZoneIngressOverview": true, "ZoneInsight": true,
	"ZoneOverview": true,
}

// replacedKinds are kinds that are not read, although they configure proxies, with
// what replaces them. Their documents are counted apart from those of unusedKinds, with
// a warning, as what they configure is missing from every answer.
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

// sharedKinds are kinds of objects that other systems have too: a document of another
// API group is one of theirs.
var sharedKinds = map[string]bool{
	WorkloadKind: true, ConfigKind: true, ZoneKind: true, MeshServiceKind: true, MeshGatewayKind: true,
}
