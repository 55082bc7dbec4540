package stories

var meshRetryStories = []story{{
	kind: "MeshRetry", name: "requests", mesh: shop + `
type: MeshRetry
mesh: default
name: web
spec:
  targetRef: {kind: MeshService, name: web}
  to:
  - targetRef: {kind: MeshService, name: cart}
    default:
      http:
        numRetries: 3
        retryOn: [5xx]
        backOff: {baseInterval: 10ms, maxInterval: 20ms}
        perTryTimeout: 1s
  - targetRef: {kind: MeshService, name: greeter}
    default:
      grpc:
        numRetries: 4
        retryOn: [Unavailable]
        backOff: {baseInterval: 10ms, maxInterval: 20ms}
  - targetRef: {kind: MeshService, name: store}
    default: {tcp: {maxConnectAttempt: 5}}
`,
	proxies: []string{"web"},
	down:    []string{"store-2"},
	steps: []step{
		{"a service that fails twice", get("127.0.0.1:10004/twice?status=503&fail=2"), "200 cart-1", "503 cart-1"},
		{"its requests", attempts("cart-1", "/twice"), "3", "1"},
		{"a service that fails", get("127.0.0.1:10004/always?status=503"), "503 cart-1", "503 cart-1"},
		{"its requests", attempts("cart-1", "/always"), "4", "1"},
		{"a status without retries", get("127.0.0.1:10004/missing?status=404"), "404 cart-1", "404 cart-1"},
		{"its requests", attempts("cart-1", "/missing"), "1", "1"},
		{"a service whose hosts each fail once", codeOf("127.0.0.1:10003", "code", "14", "fail", "1"), "OK", "Unavailable"},
		{"connections, one in two of them refused", each(6, line("127.0.0.1:10002")), "store-1: ping", "closed, store-1: ping"},
	},
}, {
	kind: "MeshRetry", name: "host selection", mesh: shop + `
type: MeshRetry
mesh: default
name: web
spec:
  targetRef: {kind: MeshService, name: web}
  to:
  - targetRef: {kind: MeshService, name: backend}
    default:
      http:
        numRetries: 1
        retryOn: [5xx]
        backOff: {baseInterval: 10ms, maxInterval: 20ms}
        hostSelection: [{predicate: OmitPreviousHosts}]
        hostSelectionMaxAttempts: 20
`,
	proxies: []string{"web"},
	steps: []step{
		{"one host fails", each(10, get("127.0.0.1:10001/?status=503&app=backend-1")), "200 backend-2", "200 backend-2, 503 backend-1"},
	},
}, {
	kind: "MeshRetry", name: "conditions and methods", mesh: shop + `
type: MeshRetry
mesh: default
name: web
spec:
  targetRef: {kind: MeshService, name: web}
  to:
  - targetRef: {kind: MeshService, name: cart}
    default:
      http:
        numRetries: 1
        retryOn: ["409", HttpMethodGet]
        backOff: {baseInterval: 10ms, maxInterval: 20ms}
`,
	proxies: []string{"web"},
	steps: []step{
		{"a status of the list", get("127.0.0.1:10004/a?status=409&fail=1"), "200 cart-1", "409 cart-1"},
		{"another status", get("127.0.0.1:10004/b?status=410&fail=1"), "410 cart-1", "410 cart-1"},
		{"another method", get("127.0.0.1:10004/c?status=409&fail=1", method("PUT")), "409 cart-1", "409 cart-1"},
	},
}}
