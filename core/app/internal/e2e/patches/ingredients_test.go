package patches

// An ingredient is modifications of one dataplane, whose address is ADDR.
type ingredient struct {
	name string
	// opens reports that a request passes that permissions deny.
	opens         bool
	modifications string
}

const (
	types     = "type.googleapis.com/envoy.extensions.filters."
	onHTTP    = `match: {origin: inbound, listenerName: inbound/ADDR/10000`
	onTCP     = `match: {origin: inbound, listenerName: inbound/ADDR/10001`
	httpRBAC  = onHTTP + `, name: envoy.filters.http.rbac}`
	tcpRBAC   = onTCP + `, name: envoy.filters.network.rbac}`
	manager   = onHTTP + `, name: envoy.filters.network.http_connection_manager}`
	hostRoute = `match: {origin: inbound, routeConfigurationName: inbound/ADDR/10000}`
)

var ingredients = []ingredient{
	{"a filter after the permission filter", false, `
- httpFilter: {operation: AddAfter, ` + httpRBAC + `, value: '{name: lua, typed_config: {"@type": ` + types + `http.lua.v3.Lua, default_source_code: {inline_string: "function envoy_on_response(h) end"}}}'}`},
	{"a filter at the end", false, `
- httpFilter: {operation: AddLast, ` + onHTTP + `}, value: '{name: buffer, typed_config: {"@type": ` + types + `http.buffer.v3.Buffer, max_request_bytes: 1000}}'}`},
	{"statistics in front", false, `
- httpFilter: {operation: AddFirst, ` + onHTTP + `}, value: '{name: stats, typed_config: {"@type": ` + types + `http.grpc_stats.v3.FilterConfig}}'}`},
	{"timeouts of the connection manager", false, `
- networkFilter: {operation: Patch, ` + manager + `, value: '{name: envoy.filters.network.http_connection_manager, typed_config: {"@type": ` + types + `network.http_connection_manager.v3.HttpConnectionManager, stream_idle_timeout: 5s, common_http_protocol_options: {max_headers_count: 50}}}'}`},
	{"a buffer of the listener", false, `
- listener: {operation: Patch, match: {name: inbound/ADDR/10000}, value: "{per_connection_buffer_limit_bytes: 32768}"}`},
	{"a header of responses", false, `
- virtualHost: {operation: Patch, ` + hostRoute + `, value: "{response_headers_to_add: [{header: {key: x-a, value: b}}]}"}`},
	{"a limit of the workload's cluster", false, `
- cluster: {operation: Patch, match: {name: local/ADDR/10000}, value: "{circuit_breakers: {thresholds: [{max_connections: 50}]}}"}`},
	{"a limit of connections", false, `
- networkFilter: {operation: AddFirst, ` + onTCP + `}, value: '{name: limit, typed_config: {"@type": ` + types + `network.connection_limit.v3.ConnectionLimit, stat_prefix: x, max_connections: 100}}'}`},
	{"a listener to another place", false, `
- cluster: {operation: Add, value: "{name: other-ADDR, connect_timeout: 1s, type: STATIC, load_assignment: {cluster_name: other, endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: ADDR, port_value: 19999}}}}]}]}}"}
- listener: {operation: Add, value: '{name: other-ADDR, address: {socket_address: {address: ADDR, port_value: 10089}}, filter_chains: [{filters: [` + proxyTo("other-ADDR") + `]}]}'}`},

	{"the permission filter is removed", true, `
- httpFilter: {operation: Remove, ` + httpRBAC + `}`},
	{"the permission filter of TCP is removed", true, `
- networkFilter: {operation: Remove, ` + tcpRBAC + `}`},
	{"the permission filter is disabled", true, `
- httpFilter: {operation: Patch, ` + httpRBAC + `, value: "{name: envoy.filters.http.rbac, disabled: true}"}`},
	{"the permission filter is disabled by a patch of the listener", true, `
- listener: {operation: Patch, match: {name: inbound/ADDR/10000}, jsonPatches: [{op: add, path: /filterChains/0/filters/0/typedConfig/httpFilters/0/disabled, value: true}]}`},
	{"the permission filter of TCP has no matcher", true, `
- networkFilter: {operation: Patch, ` + tcpRBAC + `, jsonPatches: [{op: remove, path: /matcher}]}`},
	{"a fault in front answers", true, `
- httpFilter: {operation: AddFirst, ` + onHTTP + `}, value: '{name: fault, typed_config: {"@type": ` + types + `http.fault.v3.HTTPFault, abort: {http_status: 200, percentage: {numerator: 100}}}}'}`},
	{"a program in front answers", true, `
- httpFilter: {operation: AddBefore, ` + httpRBAC + `, value: '{name: lua, typed_config: {"@type": ` + types + `http.lua.v3.Lua, default_source_code: {inline_string: "function envoy_on_request(h) h:respond({[\":status\"] = \"200\"}, \"x\") end"}}}'}`},
	{"a health check in front answers", true, `
- httpFilter: {operation: AddFirst, ` + onHTTP + `}, value: '{name: health, typed_config: {"@type": ` + types + `http.health_check.v3.HealthCheck, pass_through_mode: false, headers: [{name: ":path", string_match: {prefix: /private}}]}}'}`},
	{"a direct response in front", true, `
- networkFilter: {operation: AddFirst, ` + onHTTP + `}, value: '{name: direct, typed_config: {"@type": ` + types + `network.direct_response.v3.Config, response: {inline_string: "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"}}}'}
- networkFilter: {operation: Remove, ` + manager + `}`},
	{"a direct response after the permission filter of TCP", true, `
- networkFilter: {operation: AddAfter, ` + tcpRBAC + `, value: '{name: direct, typed_config: {"@type": ` + types + `network.direct_response.v3.Config, response: {inline_string: "hello\n"}}}'}
- networkFilter: {operation: Remove, ` + onTCP + `, name: envoy.filters.network.tcp_proxy}}`},
	{"a TCP proxy that connects at once", true, `
- networkFilter: {operation: Patch, ` + onTCP + `, name: envoy.filters.network.tcp_proxy}, jsonPatches: [{op: remove, path: /upstreamConnectMode}, {op: remove, path: /maxEarlyDataBytes}]}`},
	{"a host has no permission filter", true, `
- virtualHost: {operation: Patch, ` + hostRoute + `, value: '{typed_per_filter_config: {permission/inbound/ADDR/10000: {"@type": ` + types + `http.rbac.v3.RBACPerRoute}}}'}`},
	{"a host disables the permission filter", true, `
- virtualHost: {operation: Patch, ` + hostRoute + `, value: '{typed_per_filter_config: {permission/inbound/ADDR/10000: {"@type": type.googleapis.com/envoy.config.route.v3.FilterConfig, disabled: true}}}'}`},
	{"a route disables the permission filter", true, `
- virtualHost: {operation: Patch, ` + hostRoute + `, jsonPatches: [{op: add, path: /routes/0/typedPerFilterConfig, value: {permission/inbound/ADDR/10000: {"@type": type.googleapis.com/envoy.config.route.v3.FilterConfig, disabled: true}}}]}`},
	{"paths are not normalized", true, `
- networkFilter: {operation: Patch, ` + manager + `, jsonPatches: [{op: replace, path: /normalizePath, value: false}]}`},
	{"slashes are not merged", true, `
- networkFilter: {operation: Patch, ` + manager + `, jsonPatches: [{op: replace, path: /mergeSlashes, value: false}]}`},
	{"headers are changed before filters", true, `
- networkFilter: {operation: Patch, ` + manager + `, jsonPatches: [{op: add, path: /earlyHeaderMutationExtensions, value: [{name: envoy.http.early_header_mutation.header_mutation, typedConfig: {"@type": type.googleapis.com/envoy.extensions.http.early_header_mutation.header_mutation.v3.HeaderMutation, mutations: [{remove: x-blocked}]}}]}]}`},
	{"a filter in front changes headers", true, `
- httpFilter: {operation: AddFirst, ` + onHTTP + `}, value: '{name: mutation, typed_config: {"@type": ` + types + `http.header_mutation.v3.HeaderMutation, mutations: {request_mutations: [{remove: x-blocked}]}}}'}`},
	{"an upgrade has its own filters", true, `
- networkFilter: {operation: Patch, ` + manager + `, jsonPatches: [{op: replace, path: /upgradeConfigs, value: [{upgradeType: websocket, filters: [{name: router, typedConfig: {"@type": ` + types + `http.router.v3.Router}}]}]}]}`},
	{"a TCP proxy in place of the connection manager", true, `
- listener: {operation: Patch, match: {name: inbound/ADDR/10000}, jsonPatches: [{op: replace, path: /filterChains/0/filters, value: [` + proxyTo("local/ADDR/10000") + `]}]}`},
	{"a filter chain of its own", true, `
- listener: {operation: Patch, match: {name: inbound/ADDR/10000}, jsonPatches: [{op: add, path: /filterChains/-, value: {filterChainMatch: {sourcePrefixRanges: [{addressPrefix: 127.0.0.0, prefixLen: 8}]}, filters: [` + proxyTo("local/ADDR/10000") + `]}}]}`},
	{"a default filter chain", true, `
- listener: {operation: Patch, match: {name: inbound/ADDR/10000}, jsonPatches: [{op: add, path: /filterChains/0/filterChainMatch, value: {destinationPort: 1}}, {op: add, path: /defaultFilterChain, value: {filters: [` + proxyTo("local/ADDR/10000") + `]}}]}`},
	{"another listener in its place", true, `
- listener: {operation: Remove, match: {name: inbound/ADDR/10000}}
- listener: {operation: Add, value: '{name: mine-ADDR, address: {socket_address: {address: ADDR, port_value: 10000}}, filter_chains: [{filters: [` + proxyTo("local/ADDR/10000") + `]}]}'}`},
	{"a listener to the cluster of the inbound", true, `
- listener: {operation: Add, value: '{name: local-ADDR, address: {socket_address: {address: ADDR, port_value: 10090}}, filter_chains: [{filters: [` + proxyTo("local/ADDR/10000") + `]}]}'}`},
	{"a listener to a cluster of the workload", true, `
- cluster: {operation: Add, value: "{name: mine-ADDR, connect_timeout: 1s, type: STATIC, load_assignment: {cluster_name: mine, endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: ADDR, port_value: 10080}}}}]}]}}"}
- listener: {operation: Add, value: '{name: mine-ADDR, address: {socket_address: {address: ADDR, port_value: 10090}}, filter_chains: [{filters: [` + proxyTo("mine-ADDR") + `]}]}'}`},
	{"a cluster that is moved to the workload", true, `
- cluster: {operation: Add, value: "{name: moved-ADDR, connect_timeout: 1s, type: STATIC, load_assignment: {cluster_name: moved, endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: ADDR, port_value: 19999}}}}]}]}}"}
- listener: {operation: Add, value: '{name: moved-ADDR, address: {socket_address: {address: ADDR, port_value: 10090}}, filter_chains: [{filters: [` + proxyTo("moved-ADDR") + `]}]}'}
- cluster: {operation: Patch, match: {name: moved-ADDR}, jsonPatches: [{op: replace, path: /loadAssignment/endpoints/0/lbEndpoints/0/endpoint/address/socketAddress/portValue, value: 10080}]}`},
	{"a listener whose requests choose the cluster", true, `
- listener: {operation: Add, value: '{name: header-ADDR, address: {socket_address: {address: ADDR, port_value: 10090}}, filter_chains: [{filters: [{name: m, typed_config: {"@type": ` + types + `network.http_connection_manager.v3.HttpConnectionManager, stat_prefix: x, http_filters: [{name: r, typed_config: {"@type": ` + types + `http.router.v3.Router}}], route_config: {virtual_hosts: [{name: x, domains: ["*"], routes: [{match: {prefix: /}, route: {cluster_header: x-cluster}}]}]}}}]}]}'}`},
	{"a listener to what a client chooses", true, `
- cluster: {operation: Add, value: "{name: any-ADDR, connect_timeout: 1s, type: ORIGINAL_DST, lb_policy: CLUSTER_PROVIDED, original_dst_lb_config: {use_http_header: true}}"}
- listener: {operation: Add, value: '{name: any-ADDR, address: {socket_address: {address: ADDR, port_value: 10090}}, filter_chains: [{filters: [{name: m, typed_config: {"@type": ` + types + `network.http_connection_manager.v3.HttpConnectionManager, stat_prefix: x, http_filters: [{name: r, typed_config: {"@type": ` + types + `http.router.v3.Router}}], route_config: {virtual_hosts: [{name: x, domains: ["*"], routes: [{match: {prefix: /}, route: {cluster: any-ADDR}}]}]}}}]}]}'}`},
	{"a cluster of another server for connections", true, authorsServer + `
- listener: {operation: Add, value: '{name: demand-ADDR, address: {socket_address: {address: ADDR, port_value: 10090}}, filter_chains: [{filters: [{name: tcp, typed_config: {"@type": ` + types + `network.tcp_proxy.v3.TcpProxy, stat_prefix: x, cluster: found-ADDR-10080, on_demand: {odcds_config: ` + fromAuthor + `}}}]}]}'}`},
	{"a cluster of another server for requests", true, authorsServer + `
- listener: {operation: Add, value: '{name: demand-ADDR, address: {socket_address: {address: ADDR, port_value: 10090}}, filter_chains: [{filters: [{name: m, typed_config: {"@type": ` + types + `network.http_connection_manager.v3.HttpConnectionManager, stat_prefix: x, http_filters: [{name: od, typed_config: {"@type": ` + types + `http.on_demand.v3.OnDemand, odcds: {source: ` + fromAuthor + `}}}, {name: r, typed_config: {"@type": ` + types + `http.router.v3.Router}}], route_config: {validate_clusters: false, virtual_hosts: [{name: x, domains: ["*"], routes: [{match: {prefix: /}, route: {cluster: found-ADDR-10080}}]}]}}}]}]}'}`},
}

// authorsServer is the cluster of the server that an author runs, and fromAuthor is a source of
// clusters there.
const (
	authorsServer = `
- cluster: {operation: Add, value: "{name: author-ADDR, connect_timeout: 1s, type: STATIC, load_assignment: {cluster_name: author, endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: 127.0.0.1, port_value: AUTHOR}}}}]}]}, typed_extension_protocol_options: {envoy.extensions.upstreams.http.v3.HttpProtocolOptions: {'@type': type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions, explicit_http_config: {http2_protocol_options: {}}}}}"}`
	fromAuthor = `{resource_api_version: V3, api_config_source: {api_type: DELTA_GRPC, transport_api_version: V3, grpc_services: [{envoy_grpc: {cluster_name: author-ADDR}}]}}`
)

// proxyTo returns a TCP proxy to a cluster.
func proxyTo(cluster string) string {
	return `{name: tcp, typed_config: {"@type": ` + types + `network.tcp_proxy.v3.TcpProxy, stat_prefix: x, cluster: "` + cluster + `"}}`
}
