package stories

import (
	"strings"

	"github.com/meshmatch/meshmatch/core/internal/xds/capability"
)

var meshAccessLogStories = []story{{
	kind: "MeshAccessLog", name: "both directions", mesh: shop + `
type: MeshAccessLog
mesh: default
name: all
spec:
  to:
  - targetRef: {kind: MeshService, name: cart}
    default:
      backends:
      - type: File
        file:
          path: /run/mesh/outbound.log
          format: {type: Plain, plain: "%KUMA_MESH% %KUMA_SOURCE_SERVICE% %KUMA_DESTINATION_SERVICE% %KUMA_TRAFFIC_DIRECTION% %REQ(:PATH)% %RESPONSE_CODE%"}
      - type: OpenTelemetry
        openTelemetry:
          endpoint: 127.0.0.100:4317
          body: "%REQ(:PATH)% %RESPONSE_CODE%"
          attributes: [{key: mesh, value: "%KUMA_MESH%"}]
  - targetRef: {kind: MeshService, name: store}
    default:
      backends:
      - type: File
        file:
          path: /run/mesh/tcp.log
          format: {type: Plain, plain: "%KUMA_DESTINATION_SERVICE% %BYTES_RECEIVED%"}
  from:
  - default:
      backends:
      - type: File
        file:
          path: /run/mesh/inbound.log
          format: {type: Json, json: [{key: path, value: "%REQ(:PATH)%"}, {key: zone, value: "%KUMA_ZONE%"}]}
`,
	proxies: []string{"web", "cart-1"},
	steps: []step{
		{"a request", get("127.0.0.1:10004/logged"), "200 cart-1", "200 cart-1"},
		{"a connection", after(line("127.0.0.1:10002"), pause(0)), "", ""},
		{"the outbound", eventually("default web cart OUTBOUND /logged 200", logLines("outbound.log")), "default web cart OUTBOUND /logged 200", ""},
		{"the inbound", eventually(`{"path":"/logged","zone":"east"}`, logLines("inbound.log")), `{"path":"/logged","zone":"east"}`, ""},
		{"the connection", eventually("store 5", logLines("tcp.log")), "store 5", ""},
		{"the collector", eventually("/logged 200map[mesh:default]", collectedLogs), "/logged 200map[mesh:default]", ""},
	},
}, {
	kind: "MeshAccessLog", name: "passthrough", mesh: shop + `
type: Dataplane
mesh: default
name: all
labels: {kuma.io/zone: east}
networking:
  address: 127.0.0.51
  transparentProxying: {redirectPortOutbound: 15951}
  inbound: [{port: 10000, serviceAddress: 127.0.0.51, servicePort: 10080, protocol: http, tags: {kuma.io/service: all}}]
  outbound: [{address: 127.0.0.51, port: 10004, tags: {kuma.io/service: cart}}]
---
type: Dataplane
mesh: default
name: matched
labels: {kuma.io/zone: east}
networking:
  address: 127.0.0.52
  transparentProxying: {redirectPortOutbound: 15952}
---
type: MeshPassthrough
mesh: default
name: matched
spec:
  targetRef: {kind: Dataplane, name: matched}
  default:
    passthroughMode: Matched
    appendMatch:
    - {type: IP, value: 127.0.0.21, protocol: tcp, port: 10000}
    - {type: Domain, value: cart.example, protocol: http, port: 10000}
---
type: MeshAccessLog
mesh: default
name: all
spec:
  to:
  - targetRef: {kind: Mesh}
    default:
      backends:
      - {type: File, file: {path: /run/mesh/all.log, format: {type: Plain, plain: "%KUMA_MESH% %KUMA_ZONE% %KUMA_SOURCE_SERVICE% %KUMA_DESTINATION_SERVICE% %KUMA_TRAFFIC_DIRECTION%"}}}
---
type: MeshAccessLog
mesh: default
name: matched
spec:
  targetRef: {kind: Dataplane, name: matched}
  to:
  - targetRef: {kind: Mesh}
    default:
      backends:
      - {type: File, file: {path: /run/mesh/matched.log, format: {type: Plain, plain: "%DOWNSTREAM_LOCAL_PORT% %REQ(:AUTHORITY)%"}}}
      - {type: OpenTelemetry, openTelemetry: {endpoint: "127.0.0.100:4317", body: "%KUMA_DESTINATION_SERVICE%", attributes: [{key: mesh, value: "%KUMA_MESH%"}]}}
---
type: MeshAccessLog
mesh: default
name: other
spec:
  to:
  - targetRef: {kind: MeshService, name: external}
    default:
      backends:
      - {type: File, file: {path: /run/mesh/other.log, format: {type: Plain, plain: "never"}}}
`,
	proxies: []string{"all", "matched"},
	steps: []step{
		{"any address", line("127.0.0.51:15951", redirectedFrom("127.0.0.21:10000")), "store-1: ping", "store-1: ping"},
		{"an address that matches", line("127.0.0.52:15952", redirectedFrom("127.0.0.21:10000")), "store-1: ping", "store-1: ping"},
		{"a host that matches", get("127.0.0.52:15952/", redirectedFrom("127.0.0.12:10000"), host("cart.example:10080")), "200 cart-1", "200 cart-1"},
		{"an item for the whole mesh", eventually("default east all external OUTBOUND", logLines("all.log")), "default east all external OUTBOUND", ""},
		{"connections and requests", eventually("10000 -, 10000 cart.example:10080", logLines("matched.log")), "10000 -, 10000 cart.example:10080", ""},
		{"the collector", eventually("externalmap[mesh:default], externalmap[mesh:default]", collectedLogs), "externalmap[mesh:default], externalmap[mesh:default]", ""},
		{"an item for a service", logLines("other.log"), "", ""},
	},
}, {
	kind: "MeshAccessLog", name: "by route", mesh: shop + `
type: MeshHTTPRoute
mesh: default
name: pay
spec:
  targetRef: {kind: MeshService, name: web}
  to:
  - targetRef: {kind: MeshService, name: cart}
    rules:
    - matches: [{path: {type: PathPrefix, value: /pay}}]
      default: {filters: []}
---
type: MeshHTTPRoute
mesh: default
name: silent
spec:
  targetRef: {kind: MeshService, name: web}
  to:
  - targetRef: {kind: MeshService, name: cart}
    rules:
    - matches: [{path: {type: PathPrefix, value: /silent}}]
      default: {filters: []}
---
type: MeshAccessLog
mesh: default
name: others
spec:
  targetRef: {kind: MeshService, name: web}
  to:
  - default: {backends: [{type: File, file: {path: /run/mesh/others.log, format: {type: Plain, plain: "%REQ(:PATH)% %RESPONSE_CODE%"}}}]}
---
type: MeshAccessLog
mesh: default
name: pay
spec:
  targetRef: {kind: MeshService, name: web}
  to:
  - targetRef: {kind: MeshHTTPRoute, name: pay}
    default: {backends: [{type: File, file: {path: /run/mesh/pay.log, format: {type: Plain, plain: "%REQ(:PATH)%"}}}]}
---
type: MeshAccessLog
mesh: default
name: silent
spec:
  targetRef: {kind: MeshService, name: web}
  to:
  - targetRef: {kind: MeshHTTPRoute, name: silent}
    default: {backends: []}
`,
	proxies: []string{"web"},
	steps: []step{
		{"a route with a log of its own", get("127.0.0.1:10004/pay"), "200 cart-1", "200 cart-1"},
		{"a route without a log", get("127.0.0.1:10004/silent"), "200 cart-1", "200 cart-1"},
		{"a request that is refused", status("127.0.0.1:10004/a%00b"), "400", "400"},
		{"another route", get("127.0.0.1:10004/other"), "200 cart-1", "200 cart-1"},
		{"the log of the route", eventually("/pay", logLines("pay.log")), "/pay", ""},
		{"the log of the others", eventually("/a%00b 400, /other 200", logLines("others.log")), "/a%00b 400, /other 200", ""},
	},
}, {
	kind: "MeshAccessLog", name: "OpenTelemetry over HTTP", mesh: shop + `
type: MeshAccessLog
mesh: default
name: web
spec:
  targetRef: {kind: MeshService, name: web}
  to:
  - default:
      backends:
      - type: OpenTelemetry
        openTelemetry: {endpoint: "http://127.0.0.100:4317", body: "%REQ(:PATH)%", attributes: [{key: mesh, value: "%KUMA_MESH%"}]}
`,
	proxies: []string{"web"},
	lacking: map[string]lacking{"the collector": {capability.LogServices, "", ""}},
	steps: []step{
		{"a request", get("127.0.0.1:10004/logged"), "200 cart-1", "200 cart-1"},
		{"the collector", eventually("/loggedmap[mesh:default]", collectedLogs), "/loggedmap[mesh:default]", ""},
	},
}, {
	kind: "MeshAccessLog", name: "a MeshOpenTelemetryBackend", mesh: shop + `
type: MeshAccessLog
mesh: default
name: web
spec:
  targetRef: {kind: MeshService, name: web}
  to:
  - default:
      backends:
      - type: OpenTelemetry
        openTelemetry: {body: "%REQ(:PATH)%", backendRef: {kind: MeshOpenTelemetryBackend, labels: {team: infra}}}
---
{type: MeshOpenTelemetryBackend, name: otel, labels: {team: infra}, spec: {endpoint: {address: 127.0.0.100, port: 4317}, protocol: http}}
`,
	proxies: []string{"web"},
	lacking: map[string]lacking{"the collector": {capability.LogServices, "", ""}},
	steps: []step{
		{"a request", get("127.0.0.1:10004/logged"), "200 cart-1", "200 cart-1"},
		{"the collector", eventually("/loggedmap[]", collectedLogs), "/loggedmap[]", ""},
	},
}, {
	kind: "MeshAccessLog", name: "by match", mesh: shop + identities + `
type: MeshTrafficPermission
mesh: default
name: not-greeter
spec:
  targetRef: {kind: MeshService, name: cart}
  rules:
  - default:
      allow: [{spiffeId: {type: Prefix, value: "spiffe://default.mesh.local"}}]
      deny: [{spiffeId: {type: Exact, value: "spiffe://default.mesh.local/greeter-1"}}]
---
type: MeshAccessLog
mesh: default
name: cart
spec:
  targetRef: {kind: MeshService, name: cart}
  rules:
  - matches: [{spiffeId: {type: Exact, value: "spiffe://default.mesh.local/web"}}]
    default: {backends: [{type: File, file: {path: /run/mesh/web.log, format: {type: Plain, plain: "%REQ(:PATH)% %RESPONSE_CODE%"}}}]}
  - default: {backends: [{type: File, file: {path: /run/mesh/others.log, format: {type: Plain, plain: "%REQ(:PATH)% %RESPONSE_CODE%"}}}]}
`,
	proxies: []string{"cart-1"},
	steps: []step{
		{"web", get("127.0.0.41:10000/of-web", as(webID)), "200 cart-1", "200 cart-1"},
		{"backend", get("127.0.0.41:10000/of-backend", as(backendID)), "200 cart-1", "200 cart-1"},
		{"a client that is denied", get("127.0.0.41:10000/denied", as("spiffe://default.mesh.local/greeter-1")), "403", "403"},
		{"the log of web", eventually("/of-web 200", logLines("web.log")), "/of-web 200", ""},
		{"the other log", eventually("/denied 403, /of-backend 200", logLines("others.log")), "/denied 403, /of-backend 200", ""},
	},
}, {
	// A text that is not a format is written unchanged: X is not an operator, and Envoy
	// refuses a format with it.
	kind: "MeshAccessLog", name: "names with percent signs and quotes", mesh: strings.ReplaceAll(shop, "labels: {kuma.io/zone: east}", `labels: {kuma.io/zone: 'a%X%"b', kuma.io/workload: 'c%X%"d'}`) + `
type: MeshAccessLog
mesh: default
name: web
spec:
  targetRef: {kind: MeshService, name: web}
  to:
  - default:
      backends:
      - {type: File, file: {path: /run/mesh/plain.log, format: {type: Plain, plain: "%KUMA_ZONE% %KUMA_WORKLOAD%"}}}
      - {type: File, file: {path: /run/mesh/json.log, format: {type: Json, json: [{key: zone, value: "%KUMA_ZONE%"}]}}}
      - {type: OpenTelemetry, openTelemetry: {endpoint: "127.0.0.100:4317", attributes: [{key: zone, value: "%KUMA_ZONE%"}], body: {stringValue: "in %KUMA_ZONE%"}}}
`,
	proxies: []string{"web"},
	steps: []step{
		{"a request", get("127.0.0.1:10004/"), "200 cart-1", "200 cart-1"},
		{"the line", eventually(`a%X%"b kri_wl_default_a%25X%25"b__c%25X%25"d_`, logLines("plain.log")), `a%X%"b kri_wl_default_a%25X%25"b__c%25X%25"d_`, ""},
		{"the JSON", eventually(`{"zone":"a%X%\"b"}`, logLines("json.log")), `{"zone":"a%X%\"b"}`, ""},
		{"the collector", eventually(`in a%X%"bmap[zone:a%X%"b]`, collectedLogs), `in a%X%"bmap[zone:a%X%"b]`, ""},
	},
}, {
	kind: "MeshAccessLog", name: "a client that forges fields", mesh: shop + `
type: MeshAccessLog
mesh: default
name: web
spec:
  targetRef: {kind: MeshService, name: web}
  to:
  - default:
      backends:
      - {type: File, file: {path: /run/mesh/outbound.log}}
      - {type: OpenTelemetry, openTelemetry: {endpoint: "127.0.0.100:4317"}}
`,
	proxies: []string{"web"},
	steps: []step{
		{"a request", get("127.0.0.1:10004/true", header("User-Agent", `a\" "b`), header("X-Forwarded-For", `10.9.9.9" "c`), header("X-Envoy-Original-Path", "/forged")), "200 cart-1", "200 cart-1"},
		{"the line", eventually(`GET /true HTTP/1.1 | ? | ? | - | web | cart of 10`, loggedFields("outbound.log", 0, 1, 2, 3, 6, 7)),
			`GET /true HTTP/1.1 | ? | ? | - | web | cart of 10`, ""},
		{"the proxy that logged", eventually("map[dataplane:kri_dp_default_east__web_ mesh:default service:web zone:east] false", loggingProxies),
			"map[dataplane:kri_dp_default_east__web_ mesh:default service:web zone:east] false", ""},
	},
}}
