package stories

import (
	"crypto/tls"
	"fmt"
	"net"
	"strings"
	"time"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	proxyprotocolv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/listener/proxy_protocol/v3"

	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
)

var meshPassthroughStories = []story{{
	kind: "MeshPassthrough", name: "modes", mesh: shop + `
type: Dataplane
mesh: default
name: open
networking:
  address: 127.0.0.51
  transparentProxying: {redirectPortOutbound: 15951, redirectPortInbound: 15961}
  inbound: [{port: 10000, serviceAddress: 127.0.0.51, servicePort: 10080, protocol: http, tags: {kuma.io/service: open}}]
  outbound: [{address: 127.0.0.51, port: 10004, tags: {kuma.io/service: cart}}]
---
type: Dataplane
mesh: default
name: matched
networking:
  address: 127.0.0.52
  transparentProxying: {redirectPortOutbound: 15952}
  inbound: [{port: 10000, serviceAddress: 127.0.0.52, servicePort: 10080, protocol: http, tags: {kuma.io/service: matched}}]
---
type: Dataplane
mesh: default
name: shut
networking:
  address: 127.0.0.53
  transparentProxying: {redirectPortOutbound: 15953, redirectPortInbound: 15963}
  inbound: [{port: 10000, serviceAddress: 127.0.0.53, servicePort: 10080, protocol: http, tags: {kuma.io/service: shut}}]
  outbound: [{address: 127.0.0.53, port: 10004, tags: {kuma.io/service: cart}}]
---
type: Dataplane
mesh: default
name: greets
networking:
  address: 127.0.0.54
  inbound: [{port: 10001, tags: {kuma.io/service: greets, kuma.io/server-first: "true"}}]
---
type: Dataplane
mesh: default
name: twin
networking:
  address: 127.0.0.55
  inbound: [{port: 10080, protocol: http, tags: {kuma.io/service: twin}}]
---
type: MeshPassthrough
mesh: default
name: matched
spec:
  targetRef: {kind: MeshService, name: matched}
  default:
    passthroughMode: Matched
    appendMatch:
    - {type: IP, value: 127.0.0.11, protocol: http, port: 10000}
    - {type: CIDR, value: 127.0.0.21/32, protocol: tcp}
    - {type: Domain, value: cart.example, protocol: http, port: 10000}
    - {type: IP, value: 127.0.0.54, protocol: mysql, port: 10001}
    - {type: Domain, value: cart.example, protocol: tls, port: 10443}
---
type: MeshTrafficPermission
mesh: default
name: shut
spec:
  targetRef: {kind: MeshService, name: shut}
  rules:
  - default: {allow: [{path: {type: Prefix, value: /open}}]}
---
type: MeshPassthrough
mesh: default
name: shut
spec:
  targetRef: {kind: MeshService, name: shut}
  default: {passthroughMode: None}
`,
	proxies: []string{"open", "matched", "shut"},
	steps: []step{
		{"any address", get("127.0.0.51:15951/", redirectedFrom("127.0.0.41:10000")), "200 cart-1", "closed"},
		{"another pod, at the port of the own workload", get("127.0.0.51:15951/", redirectedFrom("127.0.0.55:10080")), "200 twin", "closed"},
		{"an outbound", get("127.0.0.51:15951/", redirectedFrom("127.0.0.51:10004")), "200 cart-1", "closed"},
		{"an outbound has no port of its own", get("127.0.0.51:10004/"), "closed", "closed"},
		{"an inbound", get("127.0.0.51:15961/", redirectedFrom("127.0.0.51:10000")), "200 open", "closed"},
		{"a port that no inbound declares", line("127.0.0.51:15961", redirectedFrom("127.0.0.51:10090")), "closed", "closed"},
		{"an address that matches", get("127.0.0.52:15952/", redirectedFrom("127.0.0.11:10000")), "200 backend-1", "closed"},
		{"a range that matches", line("127.0.0.52:15952", redirectedFrom("127.0.0.21:10000")), "store-1: ping", "closed"},
		{"a host that matches", get("127.0.0.52:15952/", redirectedFrom("127.0.0.41:10000"), host("cart.example")), "200 cart-1", "closed"},
		{"a host that matches, to an address that it does not have", get("127.0.0.52:15952/", redirectedFrom("127.0.0.12:10000"), host("cart.example")), "200 cart-1", "closed"},
		{"a host that matches, with another port", get("127.0.0.52:15952/", redirectedFrom("127.0.0.12:10000"), host("cart.example:10080")), "200 cart-1", "closed"},
		{"a request keeps the port of its host", after(get("127.0.0.52:15952/host", redirectedFrom("127.0.0.12:10000"), host("cart.example:10080")), requestHeader("cart-1", "/host", "Host")), "cart.example:10080", "no request"},
		{"a host with two ports", status("127.0.0.52:15952/", redirectedFrom("127.0.0.12:10000"), host("cart.example:10080:10080")), "404", "closed"},
		{"a host that does not match", status("127.0.0.52:15952/", redirectedFrom("127.0.0.41:10000"), host("other.example")), "404", "closed"},
		{"a server that speaks first, at a port without inspection", greetsAtOnce("127.0.0.52:15952", "127.0.0.54:10001"), "at once", "closed"},
		{"a server that speaks first, in mode All", greetsAtOnce("127.0.0.51:15951", "127.0.0.54:10001"), "at once", "closed"},
		{"TLS to a name, to an address that it does not have", secureLine("127.0.0.52:15952", sni("cart.example"), redirectedFrom("127.0.0.12:10443")), "cart", "closed"},
		{"TLS to another name", secureLine("127.0.0.52:15952", sni("other.example"), redirectedFrom("127.0.0.41:10443")), "closed", "closed"},
		{"an address that does not match", line("127.0.0.52:15952", redirectedFrom("127.0.0.22:10000")), "closed", "closed"},
		{"the port of the workload", get("127.0.0.53:15963/open", redirectedFrom("127.0.0.53:10080")), "200 shut", "closed"},
		{"the port of the workload, denied", get("127.0.0.53:15963/", redirectedFrom("127.0.0.53:10080")), "403", "closed"},
		{"the port of the workload, by an address that the dataplane does not name", get("127.0.0.53:15963/open", redirectedFrom("127.0.0.99:10080")), "closed", "closed"},
		{"the port of the inbound, denied", get("127.0.0.53:15963/", redirectedFrom("127.0.0.53:10000")), "403", "closed"},
		{"no passthrough", get("127.0.0.53:15953/", redirectedFrom("127.0.0.41:10000")), "closed", "closed"},
		{"an outbound without passthrough", get("127.0.0.53:15953/", redirectedFrom("127.0.0.53:10004")), "200 cart-1", "closed"},
	},
}, {
	kind: "MeshPassthrough", name: "off in the mesh", mesh: shop + `
type: Mesh
name: default
networking: {outbound: {passthrough: false}}
---
type: Dataplane
mesh: default
name: shut
networking:
  address: 127.0.0.51
  transparentProxying: {redirectPortOutbound: 15951}
  outbound: [{address: 127.0.0.51, port: 10004, tags: {kuma.io/service: cart}}]
---
type: Dataplane
mesh: default
name: open
labels: {egress: open}
networking:
  address: 127.0.0.52
  transparentProxying: {redirectPortOutbound: 15952}
---
type: MeshPassthrough
mesh: default
name: open
spec:
  targetRef: {kind: Dataplane, labels: {egress: open}}
  default: {passthroughMode: All}
`,
	proxies: []string{"shut", "open"},
	steps: []step{
		{"an address that is no outbound", get("127.0.0.51:15951/", redirectedFrom("127.0.0.41:10000")), "closed", "closed"},
		{"an outbound", get("127.0.0.51:15951/", redirectedFrom("127.0.0.51:10004")), "200 cart-1", "closed"},
		{"where a policy permits it", get("127.0.0.52:15952/", redirectedFrom("127.0.0.41:10000")), "200 cart-1", "closed"},
	},
}}

// greetsAtOnce returns a step that reports whether the greeting of a server comes through
// a proxy within 50 ms of the time that it takes directly, which is the least of a few
// tries.
func greetsAtOnce(proxy, server string) func(*world) string {
	return func(w *world) string {
		least := func(address string, options ...option) (time.Duration, bool) {
			best := time.Minute
			for range 10 {
				begin := time.Now()
				connection, err := w.connect(address, options...)
				if err != nil {
					return 0, false
				}
				got := readLine(connection, patience)
				_ = connection.Close()
				if got != strings.TrimSpace(greeting) {
					return 0, false
				}
				best = min(best, time.Since(begin))
			}
			return best, true
		}
		direct, ok := least(server)
		if !ok {
			return "the server does not greet"
		}
		through, ok := least(proxy, redirectedFrom(server))
		switch {
		case !ok:
			return "closed"
		case through > direct+50*time.Millisecond:
			return fmt.Sprintf("%s after %s", through, direct)
		}
		return "at once"
	}
}

// secureLine returns a step that returns the answer of a TLS server at cart-1.
func secureLine(address string, options ...option) func(*world) string {
	return func(w *world) string {
		plain, err := envoytest.Listen(w.local("127.0.0.41:10443"))
		if err != nil {
			w.t.Fatal(err)
		}
		listener := tls.NewListener(plain, &tls.Config{Certificates: []tls.Certificate{w.ca.Issue(w.t, webID)}})
		defer listener.Close()
		go func() {
			for {
				connection, err := listener.Accept()
				if err != nil {
					return
				}
				go func() {
					_, _ = fmt.Fprintln(connection, "cart")
					_ = connection.Close()
				}()
			}
		}()
		connection, err := w.connect(address, append(options, as())...)
		if err != nil {
			return "closed"
		}
		defer connection.Close()
		return readLine(connection, patience)
	}
}

// redirectedFrom makes a connection look like one to another address that the kernel
// has redirected. A rule of the kernel needs privileges; so the proxies of stories read
// the address from a PROXY line (withProxyLines).
func redirectedFrom(address string) option { return func(c *call) { c.original = address } }

// writeProxyLine writes the line with the original destination.
func writeProxyLine(connection net.Conn, original string) error {
	host, port, err := net.SplitHostPort(original)
	if err == nil {
		_, err = fmt.Fprintf(connection, "PROXY TCP4 127.0.0.1 %s 1234 %s\r\n", host, port)
	}
	return err
}

// withProxyLines makes listeners read the original destination from a PROXY line instead of
// asking the kernel for it. The listeners at redirect ports, which would listen on all
// addresses, get the address of the dataplane, because stories run at the same time.
func withProxyLines(b *bootstrapv3.Bootstrap, address string) {
	for _, l := range b.StaticResources.Listeners {
		for _, f := range l.ListenerFilters {
			if f.Name == "envoy.filters.listener.original_dst" {
				l.Address.GetSocketAddress().Address = address
				f.Name = "envoy.filters.listener.proxy_protocol"
				f.ConfigType = &listenerv3.ListenerFilter_TypedConfig{TypedConfig: message.Any(&proxyprotocolv3.ProxyProtocol{})}
			}
		}
	}
}
