package stories

import "fmt"

var meshHTTPRouteStories = []story{{
	kind: "MeshHTTPRoute", name: "matches and backends", mesh: shop + `
type: MeshHTTPRoute
mesh: default
name: versions
spec:
  targetRef: {kind: MeshService, name: web}
  to:
  - targetRef: {kind: MeshService, name: cart}
    rules:
    - matches: [{path: {type: PathPrefix, value: /v2}}]
      default: {backendRefs: [{kind: MeshServiceSubset, name: backend, tags: {version: v2}}]}
    - matches: [{path: {type: Exact, value: /v2/old}}]
      default: {backendRefs: [{kind: MeshServiceSubset, name: backend, tags: {version: v1}}]}
    - matches: [{method: DELETE}, {queryParams: [{type: Exact, name: to, value: backend}]}, {headers: [{type: Exact, name: x-to, value: backend}]}]
      default: {backendRefs: [{kind: MeshServiceSubset, name: backend, tags: {version: v2}}]}
    - matches: [{path: {type: Exact, value: /half}}]
      default: {backendRefs: [{kind: MeshService, name: cart, weight: 1}, {kind: MeshService, name: missing, weight: 1}]}
    - matches: [{path: {type: Exact, value: /zero}}]
      default: {backendRefs: [{kind: MeshService, name: cart, weight: 0}]}
    - matches: [{path: {type: Exact, value: /some}}]
      default: {backendRefs: [{kind: MeshService, name: cart, weight: 0}, {kind: MeshServiceSubset, name: backend, tags: {version: v1}, weight: 1}]}
`,
	proxies: []string{"web"},
	steps: []step{
		{"a prefix", each(4, get("127.0.0.1:10004/v2/a")), "200 backend-2", "200 cart-1"},
		{"a path that begins alike", get("127.0.0.1:10004/v23"), "200 cart-1", "200 cart-1"},
		{"a prefix behind dots", get("127.0.0.1:10004/x/../v2/a"), "200 backend-2", "200 cart-1"},
		{"a prefix with slashes", get("127.0.0.1:10004//v2//old"), "200 backend-1", "200 cart-1"},
		{"an escaped prefix", get("127.0.0.1:10004/%76%32/a"), "200 backend-2", "200 cart-1"},
		{"an exact path before a prefix", get("127.0.0.1:10004/v2/old"), "200 backend-1", "200 cart-1"},
		{"a method", get("127.0.0.1:10004/", method("DELETE")), "200 backend-2", "200 cart-1"},
		{"a query parameter", get("127.0.0.1:10004/?to=backend"), "200 backend-2", "200 cart-1"},
		{"a header", get("127.0.0.1:10004/", header("x-to", "backend")), "200 backend-2", "200 cart-1"},
		{"a backend without endpoints", each(20, get("127.0.0.1:10004/half")), "200 cart-1, 503", "200 cart-1"},
		{"no weight", get("127.0.0.1:10004/zero"), "503", "200 cart-1"},
		{"a backend of weight 0", each(8, get("127.0.0.1:10004/some")), "200 backend-1", "200 cart-1"},
		{"another request", get("127.0.0.1:10004/other"), "200 cart-1", "200 cart-1"},
	},
}, {
	kind: "MeshHTTPRoute", name: "filters", mesh: shop + `
type: MeshHTTPRoute
mesh: default
name: filters
spec:
  targetRef: {kind: MeshService, name: web}
  to:
  - targetRef: {kind: MeshService, name: cart}
    rules:
    - matches: [{path: {type: Exact, value: /headers}}]
      default:
        filters:
        - type: RequestHeaderModifier
          requestHeaderModifier: {set: [{name: x-set, value: new}], add: [{name: x-add, value: second}], remove: [x-remove]}
        - type: ResponseHeaderModifier
          responseHeaderModifier: {set: [{name: x-limited, value: modified}]}
    - matches: [{path: {type: PathPrefix, value: /old}}]
      default:
        filters:
        - type: URLRewrite
          urlRewrite: {hostname: other.example, path: {type: ReplacePrefixMatch, replacePrefixMatch: /new}}
    - matches: [{path: {type: PathPrefix, value: /moved}}]
      default:
        filters:
        - type: RequestRedirect
          requestRedirect: {hostname: other.example, statusCode: 302, path: {type: ReplaceFullPath, replaceFullPath: /there}}
    - matches: [{path: {type: Exact, value: /mirrored}}]
      default:
        filters:
        - type: RequestMirror
          requestMirror: {backendRef: {kind: MeshServiceSubset, name: backend, tags: {version: v2}}}
`,
	proxies: []string{"web"},
	steps: []step{
		{"the headers of an answer", limited("127.0.0.1:10004/headers", header("x-set", "old"), header("x-add", "first"), header("x-remove", "x")), "200 modified", "200 "},
		{"a header that is set", requestHeader("cart-1", "/headers", "X-Set"), "new", "old"},
		{"a header that is added", requestHeader("cart-1", "/headers", "X-Add"), "first, second", "first"},
		{"a header that is removed", requestHeader("cart-1", "/headers", "X-Remove"), "", "x"},
		{"a path to rewrite", get("127.0.0.1:10004/old/a"), "200 cart-1", "200 cart-1"},
		{"the requests to the new path", attempts("cart-1", "/new/a"), "1", "0"},
		{"a redirection", location("127.0.0.1:10004/moved"), "302 http://other.example/there", "200 "},
		{"a request with a mirror", get("127.0.0.1:10004/mirrored"), "200 cart-1", "200 cart-1"},
		{"the mirror", eventually("1", attempts("backend-2", "/mirrored")), "1", "0"},
	},
}}

// location returns a step that sends a request and returns its status and where the
// answer leads.
func location(url string) func(*world) string {
	return func(w *world) string {
		reply := w.get(url)
		return fmt.Sprint(reply.status, " ", reply.header.Get("Location"))
	}
}
