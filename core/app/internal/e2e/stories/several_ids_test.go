package stories

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
	"github.com/meshmatch/meshmatch/core/xds/translators"
)

// A client whose certificate has several SPIFFE IDs is denied by every inbound with TLS, even
// where every client is allowed (SPEC 7.2). A filter of the listener denies it, so these are
// the listeners that a proxy of the mesh gets.
var severalIDs = story{mesh: shop + identities + openTo("cart") + openTo("store") + openTo("backend") + `
type: MeshTrafficPermission
mesh: default
name: mail
spec:
  targetRef: {kind: MeshService, name: mail}
  rules:
  - default: {allow: [{spiffeId: {type: Exact, value: "spiffe://default.mesh.local/web"}}], deny: [{spiffeId: {type: Prefix, value: "spiffe://default.mesh.local/mail"}}]}
---
` + mail + `
type: MeshTLS
mesh: default
name: permissive
spec:
  targetRef: {kind: MeshService, name: backend}
  rules:
  - default: {mode: Permissive}
`,
	proxies: []string{"cart-1", "store-1", "backend-1", "mail"},
	steps: []step{
		{name: "one ID", do: get("127.0.0.41:10000/", as(webID)), want: "200 cart-1"},
		{name: "no ID", do: get("127.0.0.41:10000/", as()), want: "200 cart-1"},
		{name: "two IDs", do: get("127.0.0.41:10000/", as(webID, backendID)), want: "403"},
		{name: "one ID twice", do: get("127.0.0.41:10000/", as(webID, webID)), want: "403"},
		{name: "two IDs, HTTP/2", do: get("127.0.0.41:10000/", as(webID, backendID), overHTTP2), want: "403"},
		{name: "two IDs, an upgrade", do: get("127.0.0.41:10000/", as(webID, backendID), header("Connection", "Upgrade"), header("Upgrade", "websocket")), want: "403"},
		{name: "an ID in upper case", do: get("127.0.0.41:10000/", as(webID, "SPIFFE://default.mesh.local/backend-1")), want: "403"},
		{name: "two invalid IDs", do: get("127.0.0.41:10000/", as("spiffe://", "sPIFFe://x/../y")), want: "403"},
		{name: "another URI between them", do: get("127.0.0.41:10000/", as(webID, "urn:a:b", backendID)), want: "403"},
		{name: "an empty URI between them", do: get("127.0.0.41:10000/", as(webID, "", backendID)), want: "403"},
		{name: "an empty URI before one ID", do: get("127.0.0.41:10000/", as("", webID)), want: "200 cart-1"},
		{name: "an ID in another URI", do: get("127.0.0.41:10000/", as(webID, "https://a/?"+backendID)), want: "200 cart-1"},
		{name: "an ID after a comma", do: get("127.0.0.41:10000/", as("https://a/,"+webID)), want: "closed"},

		{name: "mode Permissive, one ID", do: get("127.0.0.11:10000/", as(webID)), want: "200 backend-1"},
		{name: "mode Permissive, two IDs", do: get("127.0.0.11:10000/", as(webID, backendID)), want: "403"},
		{name: "mode Permissive, plain text", do: get("127.0.0.11:10000/"), want: "200 backend-1"},

		{name: "TCP, one ID", do: line("127.0.0.21:10000", as(webID)), want: "store-1: ping"},
		{name: "TCP, two IDs", do: line("127.0.0.21:10000", as(webID, backendID)), want: "closed"},
		{name: "TCP, an ID after a comma", do: line("127.0.0.21:10000", as("https://a/,"+webID)), want: "closed"},

		// A handshake compares one URI SAN at a time (SPEC 7.5b).
		{name: "a server that speaks first, two IDs that are not allowed", do: firstLine("127.0.0.61:10000", as(backendID, backendID+"/a")), want: "closed"},
		{name: "a server that speaks first, two IDs, one of them allowed", do: firstLine("127.0.0.61:10000", as(webID, backendID)), want: "hello"},
	},
}

func TestSeveralIDs(t *testing.T) {
	envoytest.Path(t)
	severalIDs.run(t, translators.All(), func(x step) string { return x.want })
}

// openTo returns a policy that allows every client of a service.
func openTo(service string) string {
	return `
type: MeshTrafficPermission
mesh: default
name: open-` + service + `
spec:
  targetRef: {kind: MeshService, name: ` + service + `}
  from:
  - targetRef: {kind: Mesh}
    default: {action: Allow}
---
`
}
