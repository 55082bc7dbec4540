package stories

import (
	"crypto/x509"
	"fmt"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/xds/capability"
	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
	"github.com/meshmatch/meshmatch/core/xds/translators"
)

// identityStories are about certificates (SPEC 7.5b, 11.6). Of the
// translators, only MeshTrafficPermission has a part in them.
var identityStories = []story{{
	name: "both directions", mesh: shop + identities + `
type: MeshTrafficPermission
mesh: default
name: web-only
spec:
  targetRef: {kind: MeshService, name: cart}
  rules:
  - default: {allow: [{spiffeId: {type: Exact, value: "spiffe://default.mesh.local/web"}}]}
`,
	proxies: []string{"web", "backend-1", "cart-1", "greeter-1", "greeter-2", "store-1"},
	down:    []string{"backend-2", "store-2"},
	steps: []step{
		{name: "HTTP/1.1", do: get("127.0.0.1:10004/seen"), want: "200 cart-1"},
		{name: "HTTP/2", do: get("127.0.0.1:10004/", overHTTP2), want: "200 cart-1"},
		{name: "gRPC", do: each(4, callGRPC("127.0.0.1:10003")), want: "OK greeter-1, OK greeter-2"},
		{name: "TCP", do: eventually("store-1: ping", line("127.0.0.1:10002")), want: "store-1: ping"},
		{name: "the client as the workload sees it", do: clientOf("cart-1", "/seen"), want: "spiffe://default.mesh.local/web"},
		{name: "another client", do: get("127.0.0.41:10000/", as(backendID)), want: "403"},
		{name: "a client without TLS", do: get("127.0.0.41:10000/"), want: "closed"},
	},
}, {
	name: "an impostor upstream is refused", mesh: shop + identities,
	proxies:   []string{"web", "cart-1"},
	impostors: map[string]string{"cart-1": backendID},
	steps: []step{
		{name: "a request", do: get("127.0.0.1:10004/refused"), want: "503"},
		{name: "its arrivals", do: attempts("cart-1", "/refused"), want: "0"},
	},
}, {
	name: "endpoints with and without identity", mesh: shop + strings.Replace(identities, "matchLabels: {}", "matchLabels: {kuma.io/zone: east}", 1),
	proxies: []string{"web", "backend-1"},
	steps: []step{
		{name: "requests", do: each(6, get("127.0.0.1:10001/")), want: "200 backend-1, 200 backend-2"},
	},
}, {
	name: "certificates", mesh: shop + identities + `
type: MeshTrafficPermission
mesh: default
name: cart
spec:
  targetRef: {kind: MeshService, name: cart}
  rules:
  - default:
      allow:
      - {spiffeId: {type: Exact, value: "spiffe://default.mesh.local/web"}}
      - {spiffeId: {type: Exact, value: "spiffe://other.example/web"}}
      - {path: {type: Prefix, value: /open}}
`,
	proxies: []string{"cart-1"},
	steps: []step{
		{name: "with a SPIFFE ID", do: get("127.0.0.41:10000/", as(webID)), want: "200 cart-1"},
		{name: "with tags after it", do: get("127.0.0.41:10000/", as(webID, "kuma://team/shop")), want: "200 cart-1"},
		{name: "with two SPIFFE IDs", do: get("127.0.0.41:10000/", as(webID, backendID)), want: "403"},
		{name: "without a SPIFFE ID", do: get("127.0.0.41:10000/", as()), want: "403"},
		{name: "without a SPIFFE ID where none is asked for", do: get("127.0.0.41:10000/open", as()), want: "200 cart-1"},
		{name: "with the usage: none", do: get("127.0.0.41:10000/open", as(webID), usage(x509.KeyUsageDigitalSignature)), want: "200 cart-1"},
		{name: "with the usage: clients", do: get("127.0.0.41:10000/open", as(webID), usage(x509.KeyUsageDigitalSignature, x509.ExtKeyUsageClientAuth)), want: "200 cart-1"},
		{name: "with the usage: every purpose", do: get("127.0.0.41:10000/open", as(webID), usage(x509.KeyUsageDigitalSignature, x509.ExtKeyUsageAny)), want: "closed"},
		{name: "with the usage: servers", do: get("127.0.0.41:10000/open", as(webID), usage(x509.KeyUsageDigitalSignature, x509.ExtKeyUsageServerAuth)), want: "closed"},
		{name: "with the usage: code", do: get("127.0.0.41:10000/open", as(webID), usage(x509.KeyUsageDigitalSignature, x509.ExtKeyUsageCodeSigning)), want: "closed"},
		{name: "with the usage: neither usage nor extended usage", do: get("127.0.0.41:10000/open", as(webID), usage(0)), want: "200 cart-1"},
		{name: "with the usage: key agreement", do: get("127.0.0.41:10000/open", as(webID), usage(x509.KeyUsageKeyAgreement)), want: "closed"},
		{name: "with the usage: signing certificates", do: get("127.0.0.41:10000/open", as(webID), usage(x509.KeyUsageDigitalSignature|x509.KeyUsageCertSign)), want: "200 cart-1"},
		{name: "with the usage: signing CRLs", do: get("127.0.0.41:10000/open", as(webID), usage(x509.KeyUsageDigitalSignature|x509.KeyUsageCRLSign)), want: "200 cart-1"},
		{name: "of a trust domain for which the CA does not vouch", do: get("127.0.0.41:10000/", as("spiffe://other.example/web")), want: "403"},
	},
}, {
	name: "two trust domains", mesh: shop + identities + otherTrust + `
type: MeshTrafficPermission
mesh: default
name: cart
spec:
  targetRef: {kind: MeshService, name: cart}
  rules:
  - default: {allow: [{spiffeId: {type: Exact, value: "spiffe://other.example/web"}}, {path: {type: Prefix, value: /open}}]}
`,
	proxies: []string{"cart-1"},
	steps: []step{
		{name: "a client of the other domain", do: get("127.0.0.41:10000/", as(otherID), byOtherCA), want: "200 cart-1"},
		{name: "one that the mesh's CA vouches for", do: get("127.0.0.41:10000/", as(otherID)), want: "closed"},
		{name: "a client of the mesh that the other CA vouches for", do: get("127.0.0.41:10000/open", as(webID), byOtherCA), want: "closed"},
		{name: "a client of the mesh", do: get("127.0.0.41:10000/open", as(webID)), want: "200 cart-1"},
		{name: "with the usage: none", do: get("127.0.0.41:10000/open", as(webID), usage(x509.KeyUsageDigitalSignature)), want: "200 cart-1"},
		{name: "with the usage: clients", do: get("127.0.0.41:10000/open", as(webID), usage(x509.KeyUsageDigitalSignature, x509.ExtKeyUsageClientAuth)), want: "200 cart-1"},
		{name: "with the usage: every purpose", do: get("127.0.0.41:10000/open", as(webID), usage(x509.KeyUsageDigitalSignature, x509.ExtKeyUsageAny)), want: "200 cart-1"},
		{name: "with the usage: servers", do: get("127.0.0.41:10000/open", as(webID), usage(x509.KeyUsageDigitalSignature, x509.ExtKeyUsageServerAuth)), want: "200 cart-1"},
		{name: "with the usage: code", do: get("127.0.0.41:10000/open", as(webID), usage(x509.KeyUsageDigitalSignature, x509.ExtKeyUsageCodeSigning)), want: "200 cart-1"},
		{name: "with the usage: neither usage nor extended usage", do: get("127.0.0.41:10000/open", as(webID), usage(0)), want: "closed"},
		{name: "with the usage: key agreement", do: get("127.0.0.41:10000/open", as(webID), usage(x509.KeyUsageKeyAgreement)), want: "closed"},
		{name: "with the usage: signing certificates", do: get("127.0.0.41:10000/open", as(webID), usage(x509.KeyUsageDigitalSignature|x509.KeyUsageCertSign)), want: "closed"},
		{name: "with the usage: signing CRLs", do: get("127.0.0.41:10000/open", as(webID), usage(x509.KeyUsageDigitalSignature|x509.KeyUsageCRLSign)), want: "closed"},
		{name: "a client without a SPIFFE ID", do: get("127.0.0.41:10000/open", as()), want: "closed"},
	},
}, {
	name: "a denied TCP client gets no byte", mesh: shop + identities + mail + `
type: MeshTrafficPermission
mesh: default
name: mail
spec:
  targetRef: {kind: MeshService, name: mail}
  rules:
  - default: {allow: [{spiffeId: {type: Exact, value: "spiffe://default.mesh.local/web"}}]}
---
type: MeshTrafficPermission
mesh: default
name: store
spec:
  targetRef: {kind: MeshService, name: store}
  rules:
  - default: {allow: [{spiffeId: {type: Exact, value: "spiffe://default.mesh.local/web"}}]}
`,
	proxies: []string{"mail", "store-1"},
	lacking: map[string]lacking{
		"connections to the workload":  {capability.DelayedConnect, "1", ""}, // without a byte
		"connections to this workload": {capability.DelayedConnect, "1", ""},
	},
	steps: []step{
		{name: "a denied client", do: line("127.0.0.21:10000", as(backendID)), want: "closed"},
		{name: "connections to the workload", do: eventually("1", connections("store-1")), want: "0"},
		{name: "a client that is allowed", do: line("127.0.0.21:10000", as(webID)), want: "store-1: ping"},
		{name: "a server that speaks first, a denied client", do: firstLine("127.0.0.61:10000", as(backendID)), want: "closed"},
		{name: "connections to this workload", do: eventually("1", connections("mail")), want: "0"},
		{name: "a server that speaks first, a client that is allowed", do: firstLine("127.0.0.61:10000", as(webID)), want: "hello"},
	},
}}

// otherID is a client of another trust domain.
const otherID = "spiffe://other.example/web"

// otherTrust makes the other CA vouch for its trust domain.
const otherTrust = `
type: MeshTrust
mesh: default
name: other
spec:
  trustDomain: other.example
  caBundles:
  - type: Pem
    pem:
      value: OTHER-BUNDLE
---
`

func TestIdentity(t *testing.T) {
	envoytest.Path(t)
	for _, s := range identityStories {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.run(t, translators.All(), func(x step) string { return x.want })
		})
	}
}

// clientOf returns a step that returns the SPIFFE ID of the client of the last request to
// a path, as its workload sees it.
func clientOf(app, path string) func(*world) string {
	return func(w *world) string {
		_, uri, _ := strings.Cut(requestHeader(app, path, "X-Forwarded-Client-Cert")(w), "URI=")
		return uri
	}
}

// connections returns a step that returns how many connections a TCP workload got.
func connections(app string) func(*world) string {
	return func(w *world) string { return fmt.Sprint(w.tcp[app].Connections()) }
}

// firstLine returns a step that connects and returns the line that comes without a
// request.
func firstLine(address string, options ...option) func(*world) string {
	return func(w *world) string {
		connection, err := w.connect(address, options...)
		if err != nil {
			return "closed"
		}
		defer connection.Close()
		return readLine(connection, patience)
	}
}
