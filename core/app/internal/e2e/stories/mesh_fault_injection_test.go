package stories

import (
	"fmt"
	"time"

	"github.com/meshmatch/meshmatch/core/internal/xds/capability"
)

var meshFaultInjectionStories = []story{{
	kind: "MeshFaultInjection", name: "faults", mesh: shop + identities + `
type: MeshFaultInjection
mesh: default
name: cart
spec:
  targetRef: {kind: MeshService, name: cart}
  rules:
  - matches: [{path: {type: Prefix, value: /abort}}]
    default: {http: [{abort: {httpStatus: 418, percentage: 100}}]}
  - matches: [{path: {type: Prefix, value: /delay}}]
    default: {http: [{delay: {value: 500ms, percentage: 100}}]}
  - matches: [{path: {type: Prefix, value: /slow}}]
    default: {http: [{responseBandwidth: {limit: 128kbps, percentage: 100}}]}
  - matches: [{path: {type: Prefix, value: /never}}]
    default: {http: [{abort: {httpStatus: 418, percentage: 0}}]}
  - matches: [{spiffeId: {type: Prefix, value: "spiffe://default.mesh.local/backend-1"}}]
    default: {http: [{abort: {httpStatus: 418, percentage: 100}}]}
`,
	proxies: []string{"cart-1"},
	lacking: map[string]lacking{"the workload does not get the header": {capability.HandshakeState, `[""]`, `[""]`}},
	steps: []step{
		{"an abort", get("127.0.0.41:10000/abort", as(webID)), "418", "200 cart-1"},
		{"a delay", duration("127.0.0.41:10000/delay", as(webID)), "200 after the delay", "200"},
		{"16 KiB at 128 kbit/s", duration("127.0.0.41:10000/slow?size=16384", as(webID)), "200 after the delay", "200"},
		{"a percentage of 0", get("127.0.0.41:10000/never", as(webID)), "200 cart-1", "200 cart-1"},
		{"a client", get("127.0.0.41:10000/", as(backendID)), "418", "200 cart-1"},
		{"another client", get("127.0.0.41:10000/", as(webID)), "200 cart-1", "200 cart-1"},
		{"a header does not make a client another one", get("127.0.0.41:10000/forged", as(webID), header("x-meshmatch-peer", backendID)), "200 cart-1", "200 cart-1"},
		{"the workload does not get the header", func(w *world) string {
			var got []string
			for _, h := range w.apps["cart-1"].Requests("/forged") {
				got = append(got, h.Get("x-meshmatch-peer"))
			}
			return fmt.Sprintf("%q", got)
		}, `[""]`, fmt.Sprintf("%q", []string{backendID})},
	},
}, {
	kind: "MeshFaultInjection", name: "by the tags of the client", mesh: shop + identities + `
type: MeshFaultInjection
mesh: default
name: cart
spec:
  targetRef: {kind: MeshService, name: cart}
  from:
  - targetRef: {kind: MeshService, name: web}
    default: {http: [{abort: {httpStatus: 418, percentage: 100}}]}
`,
	proxies: []string{"cart-1"},
	steps: []step{
		{"the service", get("127.0.0.41:10000/", as(webID, "kuma://kuma.io/service/web")), "418", "200 cart-1"},
		{"another service", get("127.0.0.41:10000/", as(backendID, "kuma://kuma.io/service/backend")), "200 cart-1", "200 cart-1"},
	},
}}

// duration returns a step that sends a request and returns its status, and whether it
// took half a second, as near as Envoy's timers are.
func duration(url string, options ...option) func(*world) string {
	return func(w *world) string {
		reply := w.get(url, options...)
		if reply.elapsed >= 490*time.Millisecond { // Envoy's timers begin at the time of its last event, a little earlier
			return fmt.Sprintf("%d after the delay", reply.status)
		}
		return fmt.Sprint(reply.status)
	}
}
