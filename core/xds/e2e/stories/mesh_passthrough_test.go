package stories

import (
	"fmt"
	"net"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	proxyprotocolv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/listener/proxy_protocol/v3"

	"github.com/meshmatch/meshmatch/core/xds/message"
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
  transparentProxying: {redirectPortOutbound: 15953}
  inbound: [{port: 10000, serviceAddress: 127.0.0.53, servicePort: 10080, protocol: http, tags: {kuma.io/service: shut}}]
  outbound: [{address: 127.0.0.53, port: 10004, tags: {kuma.io/service: cart}}]
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
		{"an outbound", get("127.0.0.51:15951/", redirectedFrom("127.0.0.51:10004")), "200 cart-1", "closed"},
		{"an outbound has no port of its own", get("127.0.0.51:10004/"), "closed", "closed"},
		{"an inbound", get("127.0.0.51:15961/", redirectedFrom("127.0.0.51:10000")), "200 open", "closed"},
		{"an address that matches", get("127.0.0.52:15952/", redirectedFrom("127.0.0.11:10000")), "200 backend-1", "closed"},
		{"a range that matches", line("127.0.0.52:15952", redirectedFrom("127.0.0.21:10000")), "store-1: ping", "closed"},
		{"a host that matches", get("127.0.0.52:15952/", redirectedFrom("127.0.0.41:10000"), host("cart.example")), "200 cart-1", "closed"},
		{"an address that does not match", line("127.0.0.52:15952", redirectedFrom("127.0.0.22:10000")), "closed", "closed"},
		{"no passthrough", get("127.0.0.53:15953/", redirectedFrom("127.0.0.41:10000")), "closed", "closed"},
		{"an outbound without passthrough", get("127.0.0.53:15953/", redirectedFrom("127.0.0.53:10004")), "200 cart-1", "closed"},
	},
}}

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

// withProxyLines makes listeners read the original destination from a PROXY line in place
// of asking the kernel for it. The listeners at redirect ports, which are those of all
// addresses, get the address of the dataplane, as stories run at the same time.
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
