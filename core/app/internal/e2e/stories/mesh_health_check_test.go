package stories

import "time"

var meshHealthCheckStories = []story{{
	kind: "MeshHealthCheck", name: "an unhealthy host gets nothing", mesh: shop + `
type: MeshHealthCheck
mesh: default
name: web
spec:
  targetRef: {kind: MeshService, name: web}
  to:
  - default: {interval: 100ms, timeout: 500ms, unhealthyThreshold: 1, healthyThreshold: 1, noTrafficInterval: 100ms, healthyPanicThreshold: 0}
  - targetRef: {kind: MeshService, name: backend}
    default: {http: {path: "/health?status=503&app=backend-1"}}
  - targetRef: {kind: MeshService, name: store}
    default: {tcp: {send: cGluZwo=, receive: [cGluZw==]}}
  - targetRef: {kind: MeshService, name: greeter}
    default: {grpc: {serviceName: not/greeter-1}}
`,
	proxies: []string{"web"},
	down:    []string{"store-2"},
	steps: []step{
		{"some checks", pause(500 * time.Millisecond), "", ""},
		{"HTTP", each(6, get("127.0.0.1:10001/")), "200 backend-2", "200 backend-1, 200 backend-2"},
		{"TCP", each(6, line("127.0.0.1:10002")), "store-1: ping", "closed, store-1: ping"},
		{"gRPC", each(6, callGRPC("127.0.0.1:10003")), "OK greeter-2", "OK greeter-1, OK greeter-2"},
	},
}, {
	kind: "MeshHealthCheck", name: "traffic fails on panic", mesh: shop + `
type: MeshHealthCheck
mesh: default
name: web
spec:
  targetRef: {kind: MeshService, name: web}
  to:
  - targetRef: {kind: MeshService, name: cart}
    default: {interval: 100ms, timeout: 500ms, unhealthyThreshold: 1, healthyThreshold: 1, noTrafficInterval: 100ms, failTrafficOnPanic: true, http: {path: "/health?status=503"}}
`,
	proxies: []string{"web"},
	steps: []step{
		{"some checks", pause(500 * time.Millisecond), "", ""},
		{"a request", get("127.0.0.1:10004/"), "503", "200 cart-1"},
	},
}}
