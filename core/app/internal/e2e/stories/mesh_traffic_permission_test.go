package stories

var meshTrafficPermissionStories = []story{{
	kind: "MeshTrafficPermission", name: "identities", mesh: shop + identities + `
type: MeshTrafficPermission
mesh: default
name: web-only
spec:
  targetRef: {kind: MeshService, name: backend}
  rules:
  - default: {allow: [{spiffeId: {type: Exact, value: "spiffe://default.mesh.local/web"}}]}
`,
	proxies: []string{"backend-1"},
	steps: []step{
		{"web", get("127.0.0.11:10000/", as("spiffe://default.mesh.local/web")), "200 backend-1", "200 backend-1"},
		{"another client", get("127.0.0.11:10000/", as("spiffe://default.mesh.local/store-1")), "403", "200 backend-1"},
	},
}}
