package diag

var definitionsOfConflict = []*Definition{
	{
		Code: TrustDomainConflict, Class: ClassConflict, Title: "two meshes share a trust domain",
		Means: "A SPIFFE ID does not identify the mesh of its owner. Over TLS the server refuses the dataplanes of both meshes.",
		Example: `type: MeshIdentity
name: i
mesh: a
spec:
  selector: {dataplane: {matchLabels: {}}}
  spiffeID: {trustDomain: prod.example}
  provider: {type: Spire}
---
type: Dataplane
name: web
mesh: a
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web}}]
---
type: MeshIdentity
name: i
mesh: b
spec:
  selector: {dataplane: {matchLabels: {}}}
  spiffeID: {trustDomain: prod.example}
  provider: {type: Spire}
---
type: Dataplane
name: web
mesh: b
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web}}]
`,
		Mend: "Give each mesh a separate trust domain.",
	},
	{
		Code: MixedRoles, Class: ClassConflict, Title: "a policy has items of different roles",
		Means: "Some items are for services of the namespace of the policy, others are not. Kuma refuses such a policy.",
		When:  "a policy in a Kubernetes namespace with an item for a service of that namespace and another item, in the semantics kuma.",
		Mend:  "Write one policy for each role.",
	},
	{
		Code: ContradictingValues, Class: ClassConflict, Title: "two values contradict each other",
		Means: "Items of several policies set bounds that exclude each other. The message says which one applies.",
		Example: `type: Dataplane
name: web
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web}}]
  outbound: [{port: 9000, tags: {kuma.io/service: db, kuma.io/protocol: http}}]
---
type: MeshRetry
name: a
spec:
  to:
    - default: {http: {backOff: {baseInterval: 10s}}}
---
type: MeshRetry
name: b
spec:
  to:
    - targetRef: {kind: MeshService, name: db}
      default: {http: {backOff: {maxInterval: 5s}}}
`,
		Mend: "Change one of the values.",
	},
	{
		Code: SameName, Class: ClassConflict, Title: "two resources of a proxy have the same name",
		Means: "Two parts of the configuration make a resource with the same name. One of them is omitted.",
		When:  "a MeshProxyPatch that adds a cluster with the name of another cluster.",
		Mend:  "Rename one of them.",
	},
	{
		Code: InboundsDiffer, Class: ClassConflict, Title: "the inbounds of a service have different permissions",
		Means: "Two inbounds of one service and protocol decide some request differently. The answer to a client depends on the inbound that load balancing chooses.",
		Example: `type: Dataplane
name: web
networking:
  address: 10.0.0.1
  inbound: [{port: 80, protocol: http, tags: {kuma.io/service: web}}]
---
type: Dataplane
name: web-2
networking:
  address: 10.0.0.2
  inbound: [{port: 80, protocol: http, tags: {kuma.io/service: web}}]
---
type: MeshTrafficPermission
name: a
spec:
  targetRef: {kind: Dataplane, name: web}
  rules:
    - default:
        allow: [{method: GET}]
`,
		Mend: "Select all inbounds of the service by the same policies, or give them separate services.",
	},
	{
		Code: PartlyShadowed, Class: ClassConflict, Title: "an entry is shadowed in part",
		Means: "An entry of another policy denies some of the requests that the entry allows.",
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
        allow: [{path: {type: Prefix, value: /pay}}]
---
type: MeshTrafficPermission
name: b
spec:
  rules:
    - default:
        deny: [{method: POST}]
`,
		Mend: "Make one of the entries narrower if this is not intended.",
	},
	{
		Code: ExceptedByDeny, Class: ClassInfo, Title: "a denial excepts clients from an entry",
		Means: "A deny entry of another policy matches only requests that an allow entry matches too. This is how an operator takes some clients out of what an owner allows.",
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
        allow: [{path: {type: Prefix, value: /pay}}]
---
type: MeshTrafficPermission
name: b
spec:
  rules:
    - default:
        deny: [{path: {type: Prefix, value: /pay/admin}}]
`,
		Mend: "Nothing, if this is intended.",
	},
}
