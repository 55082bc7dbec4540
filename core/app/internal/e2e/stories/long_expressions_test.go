package stories

import (
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
	"github.com/meshmatch/meshmatch/core/xds/translators"
)

// longID is a client with a SPIFFE ID of more than 100 bytes.
var longID = "spiffe://default.mesh.local/" + strings.Repeat("backend-", 30) + "1"

// Envoy by itself refuses a resource if one of its expressions has a program of more than 100
// instructions, which is about one for each byte. An edit that brings one would not apply,
// and all later ones neither.
var longExpressions = story{mesh: shop + identities + `
type: MeshTimeout
mesh: default
name: cart
spec:
  targetRef: {kind: MeshService, name: cart}
  rules:
  - matches: [{spiffeId: {type: Exact, value: "` + longID + `"}}]
    default: {http: {requestTimeout: 300ms}}
  - matches: [{spiffeId: {type: Prefix, value: "` + longID + `/below"}}]
    default: {http: {requestTimeout: 300ms}}
  - matches: [{path: {type: RegularExpression, value: "/[a-z]{120,400}"}}]
    default: {http: {requestTimeout: 300ms}}
  - matches: [{headers: [{type: RegularExpression, name: x-long, value: "[a-z]{120,400}"}]}]
    default: {http: {requestTimeout: 300ms}}
---
` + openTo("cart") + openTo("backend") + `
type: MeshTrafficPermission
mesh: default
name: mail
spec:
  targetRef: {kind: MeshService, name: mail}
  rules:
  - default: {allow: [{spiffeId: {type: Prefix, value: "` + longID + `"}}]}
---
` + mail + `
type: MeshHTTPRoute
mesh: default
name: long
spec:
  targetRef: {kind: MeshService, name: web}
  to:
  - targetRef: {kind: MeshService, name: cart}
    rules:
    - matches: [{path: {type: RegularExpression, value: "/[a-z]{120,400}"}}]
      default: {backendRefs: [{kind: MeshServiceSubset, name: backend, tags: {version: v1}}]}
    - matches: [{queryParams: [{type: RegularExpression, name: q, value: "[a-z]{120,400}"}]}]
      default: {backendRefs: [{kind: MeshServiceSubset, name: backend, tags: {version: v1}}]}
`,
	proxies: []string{"web", "cart-1", "backend-1", "mail"},
	steps: []step{
		{name: "a client", do: get("127.0.0.41:10000/?delay=1s", as(longID)), want: "504"},
		{name: "a client below", do: get("127.0.0.41:10000/?delay=1s", as(longID+"/below/a")), want: "504"},
		{name: "another client", do: get("127.0.0.41:10000/?delay=1s", as(webID)), want: "200 cart-1"},
		{name: "a path", do: get("127.0.0.41:10000/"+strings.Repeat("a", 200)+"?delay=1s", as(webID)), want: "504"},
		{name: "a header", do: get("127.0.0.41:10000/?delay=1s", as(webID), header("x-long", strings.Repeat("a", 200))), want: "504"},
		{name: "a handshake", do: firstLine("127.0.0.61:10000", as(longID+"/a")), want: "hello"},
		{name: "a handshake of another client", do: firstLine("127.0.0.61:10000", as(webID)), want: "closed"},
		{name: "a route by its path", do: get("127.0.0.1:10004/" + strings.Repeat("a", 200)), want: "200 backend-1"},
		{name: "a route by a query parameter", do: get("127.0.0.1:10004/?q=" + strings.Repeat("a", 200)), want: "200 backend-1"},
		{name: "another request", do: get("127.0.0.1:10004/a"), want: "200 cart-1"},
	},
}

func TestLongExpressions(t *testing.T) {
	envoytest.Path(t)
	longExpressions.run(t, translators.All(), func(x step) string { return x.want })
}
