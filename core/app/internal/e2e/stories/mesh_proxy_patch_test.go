package stories

import "time"

var meshProxyPatchStories = []story{{
	kind: "MeshProxyPatch", name: "modifications", mesh: shop + `
type: MeshProxyPatch
mesh: default
name: web
spec:
  targetRef: {kind: MeshService, name: web}
  default:
    appendModifications:
    - virtualHost:
        operation: Patch
        match: {origin: outbound, routeConfigurationName: default/cart}
        value: |
          response_headers_to_add:
          - header: {key: x-limited, value: patched}
    - httpFilter:
        operation: AddFirst
        match: {origin: outbound, listenerTags: {kuma.io/service: backend}}
        value: |
          name: envoy.filters.http.fault
          typed_config:
            '@type': type.googleapis.com/envoy.extensions.filters.http.fault.v3.HTTPFault
            abort: {http_status: 418, percentage: {numerator: 100}}
    - networkFilter:
        operation: Patch
        match: {origin: outbound, name: envoy.filters.network.tcp_proxy}
        jsonPatches: [{op: add, path: /idleTimeout, value: 0.3s}]
    - listener:
        operation: Add
        value: |
          name: added
          address: {socket_address: {address: 127.0.0.1, port_value: 10099}}
          filter_chains:
          - filters:
            - name: envoy.filters.network.tcp_proxy
              typed_config:
                '@type': type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy
                stat_prefix: added
                cluster: default/cart
`,
	proxies: []string{"web"},
	steps: []step{
		{"a virtual host", limited("127.0.0.1:10004/"), "200 patched", "200 "},
		{"an HTTP filter", status("127.0.0.1:10001/"), "418", "200"},
		{"a network filter", closesWithin("127.0.0.1:10002", time.Second), "closed", "open"},
		{"a listener", get("127.0.0.1:10099/"), "200 cart-1", "closed"},
	},
}}
