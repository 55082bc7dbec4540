package diag

var definitionsOfRedundant = []*Definition{
	{
		Code: NeverDecides, Class: ClassRedundant, Title: "an entry never decides",
		Means: "Other entries decide every request that the entry matches, on each inbound.",
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
	{
		Code: NeverNeeded, Class: ClassRedundant, Title: "an entry is not needed",
		Means: "The entry decides some requests, but without it other entries make the same decisions, on each inbound.",
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
        allow:
          - {spiffeId: {type: Exact, value: "spiffe://prod.example/ns/shop/sa/web"}}
          - {spiffeId: {type: Prefix, value: "spiffe://prod.example/ns/shop"}}
`,
		Mend: "Remove it, and check again before you remove another entry: of two equal entries, each is needless, but not both together.",
	},
	{
		Code: EqualsOverridden, Class: ClassRedundant, Title: "an item equals what it overrides",
		Means: "The item sets fields, but without it another item sets each of them to the same value, at each place.",
		Example: `type: Dataplane
name: web
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web}}]
  outbound: [{port: 9000, tags: {kuma.io/service: db}}]
---
type: MeshTimeout
name: all
spec:
  to: [{default: {idleTimeout: 1h}}]
---
type: MeshTimeout
name: a
spec:
  to:
    - targetRef: {kind: MeshService, name: db}
      default: {idleTimeout: 1h}
`,
		Mend: "Remove it, and check again before you remove another item.",
	},
	{
		Code: OverriddenEverywhere, Class: ClassRedundant, Title: "a policy is overridden everywhere",
		Means: "At each place where the policy applies, other policies override all fields that it sets.",
		Example: `type: Dataplane
name: web
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web}}]
---
type: MeshTrace
name: a
spec: {default: {tags: [{name: x, literal: "1"}]}}
---
type: MeshTrace
name: b
spec:
  targetRef: {kind: MeshService, name: web}
  default: {tags: []}
`,
		Mend: "Remove the policy, or change the order.",
	},
}
