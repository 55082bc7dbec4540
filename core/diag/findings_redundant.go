package diag

var definitionsOfRedundant = []*Definition{
	{
		Code: NeverDecides, Class: ClassRedundant, Title: "an entry never decides",
		Means: "Other entries decide about every request that the entry matches, on each inbound.",
		Example: `type: Dataplane
name: web
networking:
  address: 10.0.0.1
  inbound: [{port: 80, protocol: http, tags: {kuma.io/service: web}}]
---
type: MeshTrafficPermission
name: a
spec:
  rules:
    - default:
        deny: [{spiffeId: {type: Prefix, value: "spiffe://prod.example/legacy"}}]
        allow: [{spiffeId: {type: Exact, value: "spiffe://prod.example/legacy/app"}}, {spiffeId: {type: Exact, value: "spiffe://prod.example/web"}}]
`,
		Mend: "Remove it, or check the entries that deny or allow more.",
	},
}
