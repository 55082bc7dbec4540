package stories

import (
	"fmt"
	"io"
	"time"
)

var meshTimeoutStories = []story{{
	kind: "MeshTimeout", name: "outbounds", mesh: shop + `
type: MeshTimeout
mesh: default
name: web
spec:
  targetRef: {kind: MeshService, name: web}
  to:
  - targetRef: {kind: MeshService, name: backend}
    default: {http: {requestTimeout: 300ms}}
  - targetRef: {kind: MeshService, name: cart}
    default: {http: {requestTimeout: 0s, streamIdleTimeout: 300ms, maxConnectionDuration: 200ms}}
  - targetRef: {kind: MeshService, name: greeter}
    default: {http: {requestTimeout: 0s, maxStreamDuration: 300ms}}
  - targetRef: {kind: MeshService, name: store}
    default: {idleTimeout: 300ms}
`,
	proxies: []string{"web"},
	steps: []step{
		{"a request past its timeout", status("127.0.0.1:10001/?delay=1s"), "504", "200"},
		{"a request within its timeout", status("127.0.0.1:10001/"), "200", "200"},
		{"a stream without bytes", status("127.0.0.1:10004/?delay=1s"), "504", "200"},
		{"a stream past its duration", status("127.0.0.1:10003/?delay=1s"), "504", "200"},
		{"a connection without bytes", closesWithin("127.0.0.1:10002", time.Second), "closed", "open"},
		{"new connections for two requests with a pause", connectionsOfTwo, "2", "0"},
	},
}, {
	kind: "MeshTimeout", name: "connections", mesh: shop + `
type: MeshTimeout
mesh: default
name: web
spec:
  targetRef: {kind: MeshService, name: web}
  to:
  - default: {connectionTimeout: 300ms}
`,
	proxies: []string{"web"},
	silent:  []string{"cart-1"},
	steps: []step{
		{"a host that does not answer", quickly("127.0.0.1:10004/"), "503 within two seconds", "503"},
	},
}, {
	kind: "MeshTimeout", name: "routes", mesh: shop + `
type: MeshHTTPRoute
mesh: default
name: slow
spec:
  targetRef: {kind: MeshService, name: web}
  to:
  - targetRef: {kind: MeshService, name: cart}
    rules:
    - matches: [{path: {type: PathPrefix, value: /report}}]
      default: {}
---
type: MeshTimeout
mesh: default
name: slow
spec:
  targetRef: {kind: MeshHTTPRoute, name: slow}
  to:
  - default: {http: {requestTimeout: 300ms}}
`,
	proxies: []string{"web"},
	steps: []step{
		{"a request of the route", get("127.0.0.1:10004/report?delay=1s"), "504", "200 cart-1"},
		{"another request", get("127.0.0.1:10004/other?delay=1s"), "200 cart-1", "200 cart-1"},
	},
}, {
	kind: "MeshTimeout", name: "inbounds by match", mesh: shop + identities + `
type: MeshTimeout
mesh: default
name: cart
spec:
  targetRef: {kind: MeshService, name: cart}
  rules:
  - matches: [{path: {type: Prefix, value: /report}}]
    default: {http: {requestTimeout: 300ms}}
  - matches: [{spiffeId: {type: Exact, value: "spiffe://default.mesh.local/backend-1"}}]
    default: {http: {requestTimeout: 300ms}}
  - matches: [{sni: impatient.example}]
    default: {http: {requestTimeout: 300ms}}
  - default: {http: {requestHeadersTimeout: 300ms}}
`,
	proxies: []string{"cart-1"},
	steps: []step{
		{"a path", get("127.0.0.41:10000/report?delay=1s", as(webID)), "504", "200 cart-1"},
		{"a path below it", get("127.0.0.41:10000/report/1?delay=1s", as(webID)), "504", "200 cart-1"},
		{"a path that begins alike", get("127.0.0.41:10000/reports?delay=1s", as(webID)), "200 cart-1", "200 cart-1"},
		{"a client", get("127.0.0.41:10000/?delay=1s", as(backendID)), "504", "200 cart-1"},
		{"another client", get("127.0.0.41:10000/?delay=1s", as(webID)), "200 cart-1", "200 cart-1"},
		{"a client that names another", get("127.0.0.41:10000/?delay=1s", as(webID), header("x-forwarded-client-cert", "URI="+backendID)), "200 cart-1", "200 cart-1"},
		{"a server name", get("127.0.0.41:10000/?delay=1s", as(webID), sni("impatient.example")), "504", "200 cart-1"},
		{"headers that do not end", slowHeaders("127.0.0.41:10000", as(webID)), "HTTP/1.1 408 Request Timeout\r", "silence"},
	},
}}

// The SPIFFE IDs of clients.
const (
	webID     = "spiffe://default.mesh.local/web"
	backendID = "spiffe://default.mesh.local/backend-1"
)

// closesWithin returns a step that sends a line, waits, and returns "closed" or "open".
func closesWithin(address string, wait time.Duration) func(*world) string {
	return func(w *world) string {
		connection, err := w.connect(address)
		if err != nil {
			return err.Error()
		}
		defer connection.Close()
		if _, err := io.WriteString(connection, "ping\n"); err != nil {
			return err.Error()
		}
		readLine(connection, patience)
		if readLine(connection, wait) == "closed" {
			return "closed"
		}
		return "open"
	}
}

// quickly returns a step that sends a request and returns its status, and whether it took
// less than two seconds.
func quickly(url string) func(*world) string {
	return func(w *world) string {
		reply := w.get(url)
		if reply.elapsed < 2*time.Second {
			return fmt.Sprintf("%d within two seconds", reply.status)
		}
		return fmt.Sprint(reply.status)
	}
}

// connectionsOfTwo is a step that returns how many connections the workload of cart,
// which has had a request before, gets for two requests with pauses.
func connectionsOfTwo(w *world) string {
	before := w.apps["cart-1"].Connections()
	time.Sleep(400 * time.Millisecond)
	w.get("127.0.0.1:10004/")
	time.Sleep(400 * time.Millisecond)
	w.get("127.0.0.1:10004/")
	return fmt.Sprint(w.apps["cart-1"].Connections() - before)
}

// slowHeaders returns a step that begins a request and returns the first line that
// comes within a second.
func slowHeaders(address string, options ...option) func(*world) string {
	return func(w *world) string {
		connection, err := w.connect(address, options...)
		if err != nil {
			return err.Error()
		}
		defer connection.Close()
		if _, err := io.WriteString(connection, "GET / HTTP/1.1\r\nhost: cart\r\n"); err != nil {
			return err.Error()
		}
		return readLine(connection, time.Second)
	}
}
