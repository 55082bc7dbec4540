package stories

var meshTCPRouteStories = []story{{
	kind: "MeshTCPRoute", name: "backends", mesh: shop + `
type: MeshTCPRoute
mesh: default
name: store
spec:
  targetRef: {kind: MeshService, name: web}
  to:
  - targetRef: {kind: MeshService, name: store}
    rules:
    - default: {backendRefs: [{kind: MeshServiceSubset, name: store, tags: {version: v2}, weight: 1}, {kind: MeshServiceSubset, name: store, tags: {version: v1}, weight: 0}]}
---
type: MeshTCPRoute
mesh: default
name: cart
spec:
  targetRef: {kind: MeshService, name: web}
  to:
  - targetRef: {kind: MeshService, name: cart}
    rules:
    - default: {backendRefs: [{kind: MeshServiceSubset, name: backend, tags: {version: v1}}]}
`,
	proxies: []string{"web"},
	steps: []step{
		{"a TCP outbound", each(8, line("127.0.0.1:10002")), "store-2: ping", "store-1: ping, store-2: ping"},
		{"an HTTP outbound", each(4, get("127.0.0.1:10004/")), "200 backend-1", "200 cart-1"},
	},
}}
