package stories

import (
	"strconv"
	"time"
)

var meshCircuitBreakerStories = []story{{
	kind: "MeshCircuitBreaker", name: "connection limits", mesh: shop + `
type: MeshCircuitBreaker
mesh: default
name: web
spec:
  targetRef: {kind: MeshService, name: web}
  to:
  - targetRef: {kind: MeshService, name: cart}
    default: {connectionLimits: {maxConnections: 1, maxPendingRequests: 1, maxRequests: 1}}
`,
	proxies: []string{"web"},
	steps: []step{
		{"requests at a time", atOnce(5, overloaded("127.0.0.1:10004/?delay=500ms")), "200, 503 overloaded", "200"},
		{"one request", overloaded("127.0.0.1:10004/"), "200", "200"},
	},
}, {
	kind: "MeshCircuitBreaker", name: "inbounds", mesh: shop + `
type: MeshCircuitBreaker
mesh: default
name: cart
spec:
  targetRef: {kind: MeshService, name: cart}
  rules:
  - default: {connectionLimits: {maxConnections: 1, maxPendingRequests: 1, maxRequests: 1}}
`,
	proxies: []string{"cart-1"},
	steps: []step{
		{"requests at a time", atOnce(5, overloaded("127.0.0.41:10000/?delay=500ms")), "200, 503 overloaded", "200"},
	},
}, {
	kind: "MeshCircuitBreaker", name: "outlier detection", mesh: shop + `
type: MeshCircuitBreaker
mesh: default
name: web
spec:
  targetRef: {kind: MeshService, name: web}
  to:
  - targetRef: {kind: MeshService, name: backend}
    default:
      outlierDetection:
        interval: 100ms
        baseEjectionTime: 30s
        maxEjectionPercent: 100
        detectors: {totalFailures: {consecutive: 2}}
        healthyPanicThreshold: 0
`,
	proxies: []string{"web"},
	steps: []step{
		{"one host fails", after(each(10, status("127.0.0.1:10001/?status=500&app=backend-1")), pause(300*time.Millisecond)), "", ""},
		{"the hosts in use", each(10, get("127.0.0.1:10001/")), "200 backend-2", "200 backend-1, 200 backend-2"},
	},
}}

// overloaded returns a step that sends a request and returns the status, and whether the
// proxy refused it because the service is overloaded.
func overloaded(url string) func(*world) string {
	return func(w *world) string {
		reply := w.get(url)
		switch {
		case reply.err != nil:
			return reply.err.Error()
		case reply.header.Get("x-envoy-overloaded") == "true":
			return "503 overloaded"
		}
		return strconv.Itoa(reply.status)
	}
}
