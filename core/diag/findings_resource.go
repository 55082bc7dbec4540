package diag

var definitionsOfResource = []*Definition{
	{
		Code: DuplicateResource, Class: ClassError, Title: "a resource is given twice",
		Means: "Two resources have the same kind, mesh, namespace and name. Which one would have an effect depends on the order of the input.",
		Example: `type: Dataplane
name: web
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web}}]
---
type: Dataplane
name: web
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web}}]
`,
		Mend: "Remove or rename one of them.",
	},
	{
		Code: ArrayNotAllowed, Class: ClassError, Title: "the kind has no such part",
		Means: "The spec of this kind does not have to, from, rules or default, or not with this top-level targetRef.",
		Example: `type: MeshRetry
name: a
spec:
  from: [{default: {tcp: {maxConnectAttempt: 1}}}]
`,
		Mend: "Move the items to a part that the message names.",
	},
	{
		Code: TargetNotAllowed, Class: ClassError, Title: "the targetRef cannot be of this kind here",
		Means: "Items of this kind of policy cannot select by such a targetRef at this place.",
		Example: `type: MeshTimeout
name: a
spec:
  to:
    - targetRef: {kind: MeshSubset, tags: {version: v1}}
      default: {idleTimeout: 1h}
`,
		Mend: "Use one of the kinds that the message lists.",
	},
	{
		Code: WrongMesh, Class: ClassError, Title: "the mesh does not match the resource",
		Means: "A targetRef names a mesh that is not the mesh of its policy, or a resource that belongs to no mesh has a mesh.",
		Example: `type: MeshTimeout
name: a
mesh: default
spec:
  targetRef: {kind: Mesh, mesh: other}
  to: [{default: {idleTimeout: 1h}}]
`,
		Mend: "Leave the mesh out, or move the resource.",
	},
	{
		Code: NoItems, Class: ClassError, Title: "the policy has no items",
		Means: "The policy has none of the parts of its kind, or no item in them, so it sets nothing.",
		Example: `type: MeshTimeout
name: a
spec:
  to: []
`,
		Mend: "Add items, or remove the policy.",
	},
	{
		Code: TooManyItems, Class: ClassError, Title: "only one item is possible",
		Means: "The proxy can use only one element of this list.",
		Example: `type: MeshTrace
name: a
spec:
  default:
    backends:
      - {type: Zipkin, zipkin: {url: "http://a:9411/api/v2/spans"}}
      - {type: Zipkin, zipkin: {url: "http://b:9411/api/v2/spans"}}
`,
		Mend: "Remove the other elements.",
	},
	{
		Code: MatchNotAllowed, Class: ClassError, Title: "the conf cannot depend on a match",
		Means: "A rule of this kind has no matches, or the field applies before the part of the request that the match compares is visible.",
		Example: `type: MeshTimeout
name: a
spec:
  rules:
    - matches: [{spiffeId: {type: Exact, value: "spiffe://prod.example/web"}}]
      default: {http: {requestHeadersTimeout: 1s}}
`,
		Mend: "Move the field to a rule without that match.",
	},
	{
		Code: BadConstraint, Class: ClassError, Title: "the constraints of a variant set are not valid",
		Means: "A constraint cannot be evaluated, or the variants of a set do not name the same keys, so there is no unique choice.",
		Example: `type: ResourceVariants
name: listeners
variants:
  - {constraints: {constraint: {key: env, value: prod}}, content: {a: 1}}
  - {constraints: {constraint: {key: zone, value: a}}, content: {a: 2}}
`,
		Mend: "Name the same keys in all variants, as the message says.",
	},
	{
		Code: AmbiguousVariants, Class: ClassError, Title: "two variants accept the same parameters",
		Means: "A client with these parameters would have two variants of one resource.",
		Example: `type: ResourceVariants
name: listeners
variants:
  - {constraints: {constraint: {key: env, value: prod}}, content: {a: 1}}
  - {constraints: {constraint: {key: env, exists: {}}}, content: {a: 2}}
`,
		Mend: "Make the constraints exclude each other.",
	},
	{
		Code: BadResource, Class: ClassError, Title: "a value made in Go is not a resource",
		Means: "A program gives an engine a value that no document could contain, such as nil.",
		When:  "a batch with a nil policy.",
		Mend:  "Correct the program.",
	},
	{
		Code: BadDeletion, Class: ClassError, Title: "a deletion of a missing resource",
		Means: "A batch deletes a resource that the engine does not have, or does two things with one resource.",
		When:  "a batch that deletes a policy twice.",
		Mend:  "Compare the batch with the view of the engine.",
	},
	{
		Code: WeakensPermissions, Class: ClassError, Title: "a patch weakens the permissions",
		Means: "After the modifications of a MeshProxyPatch, the proxy might allow requests that the permissions deny. The modified configuration is not served.",
		Example: `type: Dataplane
name: web
networking:
  address: 10.0.0.1
  inbound: [{port: 80, protocol: http, tags: {kuma.io/service: web}}]
---
type: MeshProxyPatch
name: open
spec:
  default:
    appendModifications:
      - networkFilter:
          operation: Remove
          match: {origin: inbound}
`,
		Mend: "Remove the modification, or give the policy the label meshmatch.io/weakens-permissions: \"true\".",
	},
	{
		Code: ServerFirstWithoutTLS, Class: ClassError, Title: "a server that speaks first needs TLS",
		Means: "The server sends bytes before the client does. Without TLS, no part of the client's identity is visible by then, so permissions cannot be decided in time, and clients are denied.",
		Example: `type: Dataplane
name: web
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web, kuma.io/server-first: "true"}}]
---
type: MeshTrafficPermission
name: a
spec:
  from: [{targetRef: {kind: MeshSubset, tags: {version: v1}}, default: {action: Allow}}]
`,
		Mend: "Select the dataplane with a MeshIdentity.",
	},
	{
		Code: MisplacedObject, Class: ClassError, Title: "a stored document is under the key of another resource",
		Means: "In a store, a resource has one key, made of its kind, mesh, namespace and name, and a key has one document. Otherwise two keys could have the same resource.",
		When:  "the key PREFIX/MeshTimeout/default/-/a has the document of the MeshTimeout b.",
		Mend:  "Write the document with `apply`, which chooses the key, and delete the other key.",
	},
}
