package diag

var definitionsOfNoEffect = []*Definition{
	{
		Code: SelectsNothing, Class: ClassNoEffect, Title: "a policy selects no dataplane",
		Means: "No dataplane of the mesh meets the top-level targetRef.",
		Example: `type: Dataplane
name: web
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web}}]
---
type: MeshTimeout
name: a
spec:
  targetRef: {kind: MeshService, name: absent}
  to: [{default: {idleTimeout: 1h}}]
`,
		Mend: "Check the targetRef, or remove the policy.",
	},
	{
		Code: NoDataplanes, Class: ClassNoEffect, Title: "a mesh has no dataplanes",
		Means: "The input has policies of the mesh, but no dataplane that they could select.",
		Example: `type: MeshTimeout
name: a
spec:
  to: [{default: {idleTimeout: 1h}}]
`,
		Mend: "Also load the files of the dataplanes.",
	},
	{
		Code: FieldNotUsed, Class: ClassNoEffect, Title: "a field or kind is read but not used",
		Means: "The field or the kind is valid in a control plane, but no answer depends on it here.",
		Example: `type: Mesh
name: default
routing: {zoneEgress: true}
---
type: Dataplane
name: web
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web}}]
`,
		Mend: "Nothing, if the answers need not include it.",
	},
	{
		Code: SetsNothing, Class: ClassNoEffect, Title: "an item sets nothing",
		Means: "At each place where its policy applies, other items override all fields that the item sets, or there is no place to which the item applies.",
		Example: `type: Dataplane
name: web
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web}}]
  outbound: [{port: 9000, tags: {kuma.io/service: db}}]
---
type: MeshTimeout
name: a
spec:
  to:
    - targetRef: {kind: MeshService, name: absent}
      default: {idleTimeout: 1h}
`,
		Mend: "Remove the item, or change the order of the policies.",
	},
	{
		Code: HTTPOnTCP, Class: ClassNoEffect, Title: "HTTP fields on TCP only",
		Means: "The item has HTTP fields, but each outbound to which it applies is TCP.",
		Example: `type: Dataplane
name: web
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web}}]
  outbound: [{port: 9000, tags: {kuma.io/service: db}}]
---
type: Dataplane
name: db
networking:
  address: 10.0.0.2
  inbound: [{port: 5432, tags: {kuma.io/service: db}}]
---
type: MeshTimeout
name: a
spec:
  to:
    - targetRef: {kind: MeshService, name: db}
      default: {http: {requestTimeout: 1s}}
`,
		Mend: "Set the protocol of the inbounds of the service, such as protocol: http.",
	},
	{
		Code: AbsentClient, Class: ClassNoEffect, Title: "no dataplane is a selected client",
		Means: "The item selects clients by tags that no dataplane of the mesh has.",
		Example: `type: Dataplane
name: web
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web}}]
---
type: MeshTrafficPermission
name: a
spec:
  from:
    - {targetRef: {kind: MeshSubset, tags: {version: v9}}, default: {action: Allow}}
`,
		Mend: "Check the tags, or remove the item.",
	},
	{
		Code: UnresolvedReference, Class: ClassNoEffect, Title: "a reference finds nothing",
		Means: "The item or the dataplane refers to a destination, a route or a MeshOpenTelemetryBackend that is not in the input, or to a port that it does not have.",
		Example: `type: Dataplane
name: web
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web}}]
---
type: MeshTimeout
name: a
spec:
  to:
    - targetRef: {kind: MeshService, labels: {app: absent}}
      default: {idleTimeout: 1h}
`,
		Mend: "Check the reference, or load the resource to which it refers.",
	},
	{
		Code: MissedPort, Class: ClassNoEffect, Title: "an item misses an outbound",
		Means: "The item names a port, but the outbound that a dataplane lists selects this port by its number.",
		Example: `type: MeshService
name: db
spec:
  selector: {dataplaneTags: {kuma.io/service: db}}
  ports: [{port: 5432, name: sql, appProtocol: tcp}]
---
type: Dataplane
name: web
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web}}]
  outbound: [{port: 9000, backendRef: {kind: MeshService, name: db, port: 5432}}]
---
type: MeshTimeout
name: a
spec:
  to:
    - targetRef: {kind: MeshService, name: db, sectionName: sql}
      default: {idleTimeout: 1h}
`,
		Mend: "Leave sectionName out, or let the dataplane reach the destination by transparent proxying.",
	},
	{
		Code: MissingReference, Class: ClassNoEffect, Title: "a placement refers to a missing resource",
		Means: "A binding, decision or set refers to a resource that is not in the input.",
		Example: `apiVersion: policy.open-cluster-management.io/v1
kind: PlacementBinding
metadata: {name: b, namespace: shop}
placementRef: {apiGroup: apps.open-cluster-management.io, kind: PlacementRule, name: absent}
subjects: [{apiGroup: kuma.io, kind: MeshTimeout, name: a}]
`,
		Mend: "Check the name and the namespace, or load the file of the resource.",
	},
	{
		Code: PlacesNothing, Class: ClassNoEffect, Title: "a placement places nothing",
		Means: "The placement or rollout selects no cluster, or the binding has a part without which it binds nothing.",
		Example: `apiVersion: apps.open-cluster-management.io/v1
kind: PlacementRule
metadata: {name: all, namespace: shop}
spec: {}
---
apiVersion: policy.open-cluster-management.io/v1
kind: PlacementBinding
metadata: {name: b, namespace: shop}
placementRef: {apiGroup: apps.open-cluster-management.io, kind: PlacementRule, name: all}
subjects: [{apiGroup: kuma.io, kind: MeshTimeout, name: a}]
---
apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata: {name: a, namespace: shop}
spec:
  to: [{default: {idleTimeout: 1h}}]
`,
		Mend: "Check the selector, or add decisions.",
	},
	{
		Code: OverrideNoEffect, Class: ClassNoEffect, Title: "an override has no effect",
		Means: "The binding enforces policies that are enforced without it, or policies that none of the selected clusters and dataplanes has.",
		Example: `apiVersion: apps.open-cluster-management.io/v1
kind: PlacementRule
metadata: {name: all, namespace: shop}
spec: {clusterSelector: {}}
status: {decisions: [{clusterName: a, clusterNamespace: a}]}
---
apiVersion: policy.open-cluster-management.io/v1
kind: PlacementBinding
metadata: {name: b, namespace: shop}
placementRef: {apiGroup: apps.open-cluster-management.io, kind: PlacementRule, name: all}
subjects: [{apiGroup: kuma.io, kind: MeshTimeout, name: a}]
bindingOverrides: {remediationAction: enforce}
---
apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata: {name: a, namespace: shop}
spec:
  to: [{default: {idleTimeout: 1h}}]
`,
		Mend: "Add the label kuma.io/effect: shadow to the policy, or remove the override.",
	},
	{
		Code: FromIgnored, Class: ClassNoEffect, Title: "`from` is replaced by rules",
		Means: "On an inbound, other policies of the kind have rules. They replace `from`.",
		Example: `type: Dataplane
name: web
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web}}]
---
type: MeshTimeout
name: a
spec:
  from: [{default: {idleTimeout: 1h}}]
---
type: MeshTimeout
name: b
spec:
  rules: [{default: {connectionTimeout: 1s}}]
`,
		Mend: "Write the items as rules, or select other inbounds.",
	},
	{
		Code: EmptySection, Class: ClassNoEffect, Title: "a part of a policy is empty",
		Means: "The list or the conf is present but sets nothing.",
		Example: `type: MeshTimeout
name: a
spec:
  rules: []
`,
		Mend: "Fill it, or remove it.",
	},
	{
		Code: NoEffectWithProtocol, Class: ClassNoEffect, Title: "a field has no effect with the protocol",
		Means: "The field does not apply to the protocol of the destination.",
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
    - targetRef: {kind: MeshService, name: db}
      default: {tcp: {maxConnectAttempt: 2}}
`,
		Mend: "Remove the field, or set the protocol of the service.",
	},
	{
		Code: NoEffectOnRoute, Class: ClassNoEffect, Title: "a field has no effect on one route",
		Means: "The field configures a part that all routes of an outbound share, such as its connections.",
		Example: `type: Dataplane
name: web
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web}}]
  outbound: [{port: 9000, tags: {kuma.io/service: db, kuma.io/protocol: http}}]
---
type: MeshHTTPRoute
name: r
spec:
  to:
    - targetRef: {kind: MeshService, name: db}
      rules: [{matches: [{path: {type: PathPrefix, value: /}}], default: {}}]
---
type: MeshTimeout
name: a
spec:
  to:
    - targetRef: {kind: MeshHTTPRoute, name: r}
      default: {connectionTimeout: 1s}
`,
		Mend: "Write the field in an item for the service.",
	},
	{
		Code: NoEffectHere, Class: ClassNoEffect, Title: "a field has no effect on the proxy",
		Means: "The field is valid, but has no effect in this place or with the other fields. The message contains the reason.",
		Example: `type: Dataplane
name: web
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web}}]
  outbound: [{port: 9000, tags: {kuma.io/service: db, kuma.io/protocol: http}}]
---
type: MeshCircuitBreaker
name: a
spec:
  to:
    - targetRef: {kind: MeshService, name: db}
      default: {outlierDetection: {interval: 5s, detectors: {localOriginFailures: {consecutive: 3}}}}
`,
		Mend: "Remove the field, or change the part that the message names.",
	},
	{
		Code: NoTranslator, Class: ClassNoEffect, Title: "a kind has no effect on proxies",
		Means: "The program has no translator that shapes this part of the proxy by policies of the kind.",
		When:  "a policy of a kind that a program adds without a translator.",
		Mend:  "Give the program a translator for the kind.",
	},
	{
		Code: NeverMatches, Class: ClassNoEffect, Title: "a match never holds",
		Means: "No request that arrives there matches, or an earlier match accepts the same requests.",
		Example: `type: Dataplane
name: web
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web}}]
  outbound: [{port: 9000, tags: {kuma.io/service: db, kuma.io/protocol: http}}]
---
type: MeshHTTPRoute
name: r
spec:
  to:
    - targetRef: {kind: MeshService, name: db}
      rules:
        - matches: [{path: {type: Exact, value: /a}}, {path: {type: Exact, value: /a}}]
          default: {}
`,
		Mend: "Remove the match, or change the order.",
	},
	{
		Code: UnseenEntry, Class: ClassNoEffect, Title: "an entry compares parts that the inbound cannot see",
		Means: "Without HTTP an inbound sees no requests, and without TLS it sees no identity and no server name. The entry or item matches no client there.",
		Example: `type: Dataplane
name: web
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web}}]
---
type: MeshTrafficPermission
name: a
spec:
  rules:
    - default:
        allow: [{method: GET}]
`,
		Mend: "Set the protocol of the inbound, or give the dataplane an identity.",
	},
	{
		Code: PatchNotApplied, Class: ClassNoEffect, Title: "a modification is not applied",
		Means: "The modification matches no resource, or its result would not be valid.",
		Example: `type: Dataplane
name: web
networking:
  address: 10.0.0.1
  inbound: [{port: 80, protocol: http, tags: {kuma.io/service: web}}]
---
type: MeshProxyPatch
name: p
spec:
  default:
    appendModifications:
      - cluster:
          operation: Patch
          match: {origin: inbound}
          jsonPatches: [{op: remove, path: /absent}]
`,
		Mend: "Correct the match or the patch.",
	},
	{
		Code: NotInGRPC, Class: ClassNoEffect, Title: "gRPC does not support it",
		Means: "A gRPC client or server without a proxy has no such function, or has it in another form.",
		When:  "the snapshot of a gRPC server with an inbound of protocol tcp.",
		Mend:  "Nothing, if the policy is for proxies.",
	},
	{
		Code: IgnoredMetadata, Class: ClassNoEffect, Title: "a field of the metadata is ignored",
		Means: "Kubernetes has no such field in the metadata, so it is probably misspelled.",
		Example: `apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata: {name: a, namespace: shop, label: {kuma.io/mesh: default}}
spec:
  to: [{default: {idleTimeout: 1h}}]
`,
		Mend: "Correct the name of the field.",
	},
	{
		Code: UnsatisfiableConstraint, Class: ClassNoEffect, Title: "constraints accept no parameters",
		Means: "The constraints contradict each other, so no client has the variant or the fragment.",
		Example: `type: ResourceVariants
name: listeners
variants:
  - constraints: {andConstraints: {constraints: [{constraint: {key: env, value: prod}}, {constraint: {key: env, value: test}}]}}
    content: {a: 1}
`,
		Mend: "Remove it, or correct the constraints.",
	},
	{
		Code: AbsentDependency, Class: ClassNoEffect, Title: "a requirement of the conf is missing",
		Means: "The conf needs an identity, a certificate or transparent proxying, which the dataplane does not have.",
		Example: `type: Dataplane
name: web
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web}}]
---
type: MeshTLS
name: a
spec:
  rules: [{default: {mode: Strict}}]
`,
		Mend: "Add what the message names.",
	},
	{
		Code: UnusedIgnore, Class: ClassNoEffect, Title: "an ignore is no longer needed",
		Means: "A comment or an annotation ignores a finding that does not occur there.",
		Example: `# meshmatch:ignore MM2001 the service comes next week
type: Dataplane
name: web
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web}}]
`,
		Mend: "Remove it.",
	},
	{
		Code: UnknownIdentity, Class: ClassNoEffect, Title: "no dataplane has the identity",
		Means: "An entry of permissions names a SPIFFE ID, or a prefix, that no dataplane of any mesh has. There is no finding if no dataplane has an identity, or for a trust domain of a MeshTrust to which no dataplane belongs.",
		Example: `type: Dataplane
name: web
networking:
  address: 10.0.0.1
  inbound: [{port: 80, protocol: http, tags: {kuma.io/service: web}}]
---
type: MeshIdentity
name: mesh
spec:
  selector: {dataplane: {matchLabels: {}}}
  provider: {type: Spire}
---
type: MeshTrafficPermission
name: a
spec:
  rules:
    - default:
        allow: [{spiffeId: {type: Exact, value: "spiffe://default.mesh.local/ns/shop/sa/typo"}}]
`,
		Mend: "Check the identity, or load the files of the dataplanes that have it.",
	},
	{
		Code: OlderEnvoy, Class: ClassNoEffect, Title: "the version of Envoy lacks it",
		Means: "A proxy of this version cannot do what the conf asks for, so it is left out there. What permissions and TLS need is never left out: such clients are denied.",
		When:  "the snapshot of an Envoy 1.36 with OpenTelemetry access logs over HTTP, or with a MeshProxyPatch that uses a field of 1.40.",
		Mend:  "Run the version of Envoy that the message names, or write the conf so that it does without.",
	},
}
