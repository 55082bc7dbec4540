package stories

import "fmt"

var meshRateLimitStories = []story{{
	kind: "MeshRateLimit", name: "requests and connections", mesh: shop + `
type: MeshRateLimit
mesh: default
name: cart
spec:
  targetRef: {kind: MeshService, name: cart}
  from:
  - default: {local: {http: {requestRate: {num: 2, interval: 1h}, onRateLimit: {status: 423, headers: {set: [{name: x-limited, value: "yes"}]}}}}}
---
type: MeshRateLimit
mesh: default
name: store
spec:
  targetRef: {kind: MeshService, name: store}
  from:
  - default: {local: {tcp: {connectionRate: {num: 2, interval: 1h}}}}
`,
	proxies: []string{"cart-1", "store-1"},
	steps: []step{
		{"three requests", inOrder(limited("127.0.0.41:10000/"), limited("127.0.0.41:10000/"), limited("127.0.0.41:10000/")), "200 , 200 , 423 yes", "200 , 200 , 200 "},
		{"three connections", inOrder(line("127.0.0.21:10000"), line("127.0.0.21:10000"), line("127.0.0.21:10000")), "store-1: ping, store-1: ping, closed", "store-1: ping, store-1: ping, store-1: ping"},
	},
}, {
	kind: "MeshRateLimit", name: "by match", mesh: shop + identities + `
type: MeshRateLimit
mesh: default
name: cart
spec:
  targetRef: {kind: MeshService, name: cart}
  rules:
  - matches: [{spiffeId: {type: Exact, value: "spiffe://default.mesh.local/web"}}]
    default: {local: {http: {requestRate: {num: 1, interval: 1h}}}}
  - matches: [{method: POST}]
    default: {local: {http: {requestRate: {num: 1, interval: 1h}}}}
  - default: {local: {http: {requestRate: {num: 2, interval: 1h}}}}
`,
	proxies: []string{"cart-1"},
	steps: []step{
		{"a client", inOrder(status("127.0.0.41:10000/", as(webID)), status("127.0.0.41:10000/", as(webID))), "200, 429", "200, 200"},
		{"a method", inOrder(status("127.0.0.41:10000/", as(backendID), method("POST")), status("127.0.0.41:10000/", as(backendID), method("POST"))), "200, 429", "200, 200"},
		{"others", inOrder(status("127.0.0.41:10000/", as(backendID)), status("127.0.0.41:10000/", as(backendID)), status("127.0.0.41:10000/", as(backendID))), "200, 200, 429", "200, 200, 200"},
	},
}}

// limited returns a step that sends a request and returns its status and a header of
// the answer.
func limited(url string, options ...option) func(*world) string {
	return func(w *world) string {
		reply := w.get(url, options...)
		return fmt.Sprint(reply.status, " ", reply.header.Get("x-limited"))
	}
}
