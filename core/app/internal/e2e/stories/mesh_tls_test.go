package stories

import (
	"crypto/tls"

	"github.com/meshmatch/meshmatch/core/internal/xds/capability"
)

var meshTLSStories = []story{{
	kind: "MeshTLS", name: "versions and ciphers", mesh: shop + identities + `
type: MeshTLS
mesh: default
name: cart
spec:
  targetRef: {kind: MeshService, name: cart}
  rules:
  - default: {tlsVersion: {min: TLS13}}
---
type: MeshTLS
mesh: default
name: backend
spec:
  targetRef: {kind: MeshService, name: backend}
  from:
  - default: {tlsVersion: {max: TLS12}, tlsCiphers: [ECDHE-ECDSA-CHACHA20-POLY1305]}
---
type: MeshTLS
mesh: default
name: backend-2
spec:
  targetRef: {kind: MeshServiceSubset, name: backend, tags: {version: v2}}
  from:
  - default: {tlsVersion: {min: TLS13, max: TLS13}}
---
type: MeshTLS
mesh: default
name: store
spec:
  targetRef: {kind: MeshService, name: store}
  from:
  - default: {tlsVersion: {max: TLS11}}
`,
	proxies: []string{"web", "cart-1", "backend-1", "backend-2", "store-1"},
	steps: []step{
		{"a proxy of the mesh, where TLS 1.3 is required", get("127.0.0.1:10004/"), "200 cart-1", "200 cart-1"},
		{"a proxy of the mesh, endpoints with other versions", each(10, get("127.0.0.1:10001/")), "200 backend-1, 200 backend-2", "200 backend-1, 200 backend-2"},
		{"TLS 1.2", get("127.0.0.41:10000/", as(webID), maxTLS(tls.VersionTLS12)), "closed", "200 cart-1"},
		{"TLS 1.3", get("127.0.0.41:10000/", as(webID)), "200 cart-1", "200 cart-1"},
		{"the cipher", cipher("127.0.0.11:10000", as(webID)), "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "TLS_AES_128_GCM_SHA256"},
		{"a version without a cipher", line("127.0.0.21:10000", as(webID)), "closed", "store-1: ping"},
	},
}, {
	kind: "MeshTLS", name: "permissive", mesh: shop + identities + `
type: MeshTLS
mesh: default
name: permissive
spec:
  rules:
  - default: {mode: Permissive}
---
type: MeshTrafficPermission
mesh: default
name: store
spec:
  targetRef: {kind: MeshService, name: store}
  rules:
  - default: {allow: [{spiffeId: {type: Exact, value: "spiffe://default.mesh.local/web"}}, {sni: {type: Exact, value: open.store}}]}
---
type: MeshTrafficPermission
mesh: default
name: cart
spec:
  targetRef: {kind: MeshService, name: cart}
  rules:
  - default: {allow: [{spiffeId: {type: Exact, value: "spiffe://default.mesh.local/web"}}, {path: {type: Prefix, value: /open}}]}
`,
	proxies: []string{"web", "cart-1", "backend-1", "store-1"}, down: []string{"store-2"},
	lacking: map[string]lacking{
		"a workload's own TLS":                                        {capability.DelayedConnect, "closed", "closed"},
		"a workload's own TLS with a protocol":                        {capability.DelayedConnect, "closed", "closed"},
		"a workload's own TLS, which proves no identity to the proxy": {capability.DelayedConnect, "closed", "store-1: ping"},
	},
	steps: []step{
		{"plain text", get("127.0.0.11:10000/"), "200 backend-1", "closed"},
		{"TLS", get("127.0.0.11:10000/", as(webID)), "200 backend-1", "200 backend-1"},
		{"plain TCP where an identity is asked for", line("127.0.0.21:10000"), "closed", "closed"},
		{"TCP over TLS of the mesh", line("127.0.0.21:10000", as(webID), offering("meshmatch")), "store-1: ping", "store-1: ping"},
		{"TCP over TLS of the mesh by another identity", line("127.0.0.21:10000", as(backendID), offering("meshmatch")), "closed", "closed"},
		{"a proxy of the mesh", eventually("store-1: ping", line("127.0.0.1:10002")), "store-1: ping", "store-1: ping"},
		{"a workload's own TLS", line("127.0.0.21:10000", as(), sni("open.store")), "store-1 by TLS: ping", "store-1: ping"},
		{"a workload's own TLS, which proves no identity to the proxy", line("127.0.0.21:10000", as(webID), sni("other")), "closed", "store-1: ping"},
		{"a workload's own TLS with a protocol", line("127.0.0.21:10000", as(), sni("open.store"), offering("postgresql")), "store-1 by TLS: ping", "store-1: ping"},
		{"a plain client where an identity is asked for", get("127.0.0.41:10000/"), "403", "closed"},
		{"a plain client where no identity is asked for", get("127.0.0.41:10000/open"), "200 cart-1", "closed"},
		{"a client with the identity", get("127.0.0.41:10000/", as(webID)), "200 cart-1", "200 cart-1"},
		{"a client with another identity", get("127.0.0.41:10000/", as(backendID)), "403", "403"},
	},
}}

// cipher returns a step that returns the cipher suite of a connection.
func cipher(address string, options ...option) func(*world) string {
	return func(w *world) string {
		connection, err := w.connect(address, options...)
		if err != nil {
			return err.Error()
		}
		defer connection.Close()
		return tls.CipherSuiteName(connection.(*tls.Conn).ConnectionState().CipherSuite)
	}
}
