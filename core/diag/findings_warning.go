package diag

var definitionsOfWarning = []*Definition{
	{
		Code: ClosedInbound, Class: ClassWarning, Title: "an inbound denies every request",
		Means: "No MeshTrafficPermission selects the inbound, or the selecting ones allow no request.",
		Example: `type: Dataplane
name: web
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web}}]
`,
		Mend: "Add an entry that allows clients.",
	},
	{
		Code: OpenInbound, Class: ClassWarning, Title: "an inbound allows every client",
		Means: "A Kuma control plane applies permissions only to dataplanes with an identity, and this dataplane has none.",
		Example: `type: Dataplane
name: web
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web}}]
---
type: MeshTrafficPermission
name: a
spec:
  rules: [{default: {deny: [{sni: x}]}}]
`,
		Semantics: "kuma3",
		Mend:      "Select the dataplane with a MeshIdentity.",
	},
	{
		Code: NoSPIFFEID, Class: ClassWarning, Title: "a dataplane has no SPIFFE ID",
		Means: "A MeshIdentity selects the dataplane, but the path of the identity cannot be expanded for it. The dataplane is a client without identity.",
		Example: `type: Dataplane
name: web
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web}}]
---
type: MeshIdentity
name: mesh
spec:
  selector: {dataplane: {matchLabels: {}}}
  spiffeID: {path: '/ns/{{ label "ns" }}'}
  provider: {type: Spire}
`,
		Mend: "Give the dataplane the label that the template requires, or change the template.",
	},
	{
		Code: NotServedOverTLS, Class: ClassWarning, Title: "a dataplane is served to no client over TLS",
		Means: "Over TLS, the server answers a client for the dataplane whose SPIFFE ID is in the client's certificate. No MeshIdentity gives this dataplane a SPIFFE ID.",
		Example: `type: Dataplane
name: web
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web}}]
`,
		TLS:  true,
		Mend: "Select the dataplane with a MeshIdentity.",
	},
	{
		Code: EvadableEntry, Class: ClassWarning, Title: "a client can avoid the entry",
		Means: "The entry depends on a header that a client can leave out or add at will.",
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
        deny: [{headers: [{name: x-debug, type: Present}]}]
        allow: [{spiffeId: {type: Exact, value: "spiffe://prod.example/web"}}]
`,
		Mend: "Decide by a property that a client cannot choose, such as spiffeId.",
	},
	{
		Code: BroaderOnTCP, Class: ClassWarning, Title: "an entry denies more on TCP",
		Means: "A TCP inbound sees no HTTP requests. There, an entry that denies is compared by its remaining conditions, so it denies more clients than on HTTP.",
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
        deny: [{spiffeId: {type: Exact, value: "spiffe://prod.example/web"}, method: POST}]
`,
		Mend: "Set the protocol of the inbound, or select HTTP inbounds only.",
	},
	{
		Code: ForgeableLog, Class: ClassWarning, Title: "a client can forge fields of the log",
		Means: "The format is one text, and the client chooses a value in it. The value can contain the separator and so imitate other fields.",
		Example: `type: MeshAccessLog
name: a
spec:
  to:
    - default:
        backends:
          - type: File
            file: {path: /dev/stdout, format: {type: Plain, plain: "%REQ(USER-AGENT)% %RESPONSE_CODE%"}}
`,
		Mend: "Use the format Json, or leave the format out.",
	},
	{
		Code: ProxyDiffers, Class: ClassWarning, Title: "the proxy behaves differently",
		Means: "The value is valid, but the proxy does something else than the field describes.",
		Example: `type: MeshRateLimit
name: a
spec:
  rules:
    - default:
        local: {http: {requestRate: {num: 1, interval: 1s}, onRateLimit: {status: 200}}}
`,
		Mend: "Use the value that the message names.",
	},
	{
		Code: LikelyMistake, Class: ClassWarning, Title: "a value that is probably a mistake",
		Means: "The value is valid, but is probably a mistake.",
		Example: `type: MeshHealthCheck
name: a
spec:
  to:
    - default: {interval: 5s, timeout: 1s, tcp: {send: pong}}
`,
		Mend: "Write the value that the message names if it is the intended one.",
	},
	{
		Code: MorePages, Class: ClassWarning, Title: "a list is not complete",
		Means: "The list is one page of several. The resources of the other pages are not in the input.",
		Example: `{"total": 2, "next": "http://cp:5681/meshes?offset=1", "items": [{"type": "Mesh", "name": "default"}]}
`,
		Mend: "Read all pages and join them.",
	},
	{
		Code: WeakensOnPurpose, Class: ClassWarning, Title: "a patch weakens the permissions on purpose",
		Means: "After the modifications of a MeshProxyPatch the proxy might allow requests that the permissions deny, and the policy has the label that permits this.",
		Example: `type: Dataplane
name: web
networking:
  address: 10.0.0.1
  inbound: [{port: 80, protocol: http, tags: {kuma.io/service: web}}]
---
type: MeshProxyPatch
name: open
labels: {meshmatch.io/weakens-permissions: "true"}
spec:
  default:
    appendModifications:
      - networkFilter:
          operation: Remove
          match: {origin: inbound}
`,
		Mend: "Remove the modification if it is no longer needed.",
	},
	{
		Code: UnusableListener, Class: ClassWarning, Title: "the proxy refuses a listener",
		Means: "Two listeners of the dataplane have the same address, or the address of a listener is a host name. No proxy can serve the dataplane.",
		Example: `type: Dataplane
name: web
networking:
  address: web.example
  inbound: [{port: 80, tags: {kuma.io/service: web}}]
`,
		Mend: "Change the address or the port.",
	},
	{
		Code: UncoveredParameters, Class: ClassWarning, Title: "no variant accepts some parameters",
		Means: "For a client with these parameters the resource does not exist.",
		Example: `type: ResourceVariants
name: listeners
variants:
  - {constraints: {constraint: {key: env, value: prod}}, content: {a: 1}}
`,
		Mend: "Add a variant for them if there are such clients.",
	},
	{
		Code: UnverifiedCollector, Class: ClassWarning, Title: "the certificate of a collector is not verified",
		Means: "Data are sent over TLS to a collector, but an attacker on the network can impersonate it.",
		Example: `type: Dataplane
name: web
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web}}]
  outbound: [{port: 9000, tags: {kuma.io/service: db}}]
---
type: MeshAccessLog
name: a
spec:
  to:
    - default:
        backends: [{type: OpenTelemetry, openTelemetry: {endpoint: "https://collector.example:4318"}}]
`,
		Mend: "Use a collector in the mesh, or a trusted network.",
	},
	{
		Code: NoEndpoints, Class: ClassWarning, Title: "a destination has no endpoints",
		Means: "A backend or an external service has endpoints that are unknown here, or to which no proxy may connect. Its requests, or its share of them, are answered with 503.",
		Example: `type: Dataplane
name: web
networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: web}}]}
---
type: MeshExternalService
name: payments
spec:
  match: {type: HostnameGenerator, port: 443, protocol: http}
  endpoints: [{address: payments.example, port: 443}]
  tls: {enabled: true, verification: {caCert: {secret: payments-ca}}}
`,
		Mend: "Give what the message names; refer to a service by its tags.",
	},
	{
		Code: NotSPIFFEID, Class: ClassWarning, Title: "the identity of a request is not a SPIFFE ID",
		Means: "The given text for the client is not a SPIFFE ID, so the answer is for a client without one.",
		When:  "a question about a request of the client spiffe://UPPER/x.",
		Mend:  "Write spiffe://trust-domain/path.",
	},
	{
		Code: BadIgnore, Class: ClassWarning, Title: "an ignore has no code or no reason",
		Means: "A comment or an annotation for ignoring a finding has no known code, the code of an error, or no reason. It ignores no finding.",
		Example: `# meshmatch:ignore MM2001
type: Dataplane
name: web
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web}}]
`,
		Mend: "Write the code and the reason.",
	},
	{
		Code: UnknownNode, Class: ClassWarning, Title: "the node of a collector is unknown",
		Means: "A MeshOpenTelemetryBackend without an address is on the node of each proxy. No resource has the address of a node, so proxies send to 127.0.0.1, which is the pod on Kubernetes.",
		Example: `type: Dataplane
name: web
networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: web}}]}
---
apiVersion: kuma.io/v1alpha1
kind: MeshOpenTelemetryBackend
metadata: {name: otel, namespace: kuma-system}
spec: {endpoint: {port: 4317}}
`,
		Mend: "Write the address of the collector, such as the host name of its Service.",
	},
	{
		Code: NotApplied, Class: ClassWarning, Title: "a kustomization is not applied",
		Means: "The directory is an input of kustomize, which patches its files and adds namespaces, labels and names. The files are read as they are, without these changes.",
		Example: `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namespace: kuma-system
resources: [policies.yaml]
`,
		Mend: "Give the output of kustomize in the place of the directory.",
	},
	{
		Code: NotSeenInPlainText, Class: ClassWarning, Title: "an inbound without TLS does not see the client",
		Means: "The dataplane has no identity, so its inbounds have no TLS. A client has no SPIFFE ID, server name or tags there, and no entry about them matches.",
		When:  "`meshmatch access` with a SPIFFE ID, about a dataplane that no MeshIdentity selects.",
		Mend:  "Select the dataplane with a MeshIdentity.",
	},
	{
		Code: FieldNotKnown, Class: ClassWarning, Title: "a control plane stored a field that is not known here",
		Means: "A newer control plane than this version of meshmatch knows has printed or stored the document. The field has no effect in these answers. Where a person writes, in a permission, and in targetref, such a field is an error.",
		Example: `type: MeshTimeout
name: t
creationTime: "2026-06-01T08:00:00Z"
labels: {kuma.io/origin: zone}
spec:
  to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1h, jitter: 5s}}]
`,
		Semantics: "kuma",
		Mend:      "Use a version of meshmatch that knows the field.",
	},
	{
		Code: ScalarOfYAML11, Class: ClassWarning, Title: "Kuma reads a value otherwise",
		Means: "Text without quotes has one meaning in YAML 1.1, by which Kuma and kubectl read, and another in YAML 1.2, by which these answers are made.",
		Example: `type: MeshRetry
name: r
spec:
  to: [{targetRef: {kind: Mesh}, default: {http: {numRetries: 010}}}]
`,
		Semantics: "kuma",
		Mend:      "Write the number in decimal digits, or the text in quotes.",
	},
	{
		Code: EmptyPolicy, Class: ClassWarning, Title: "a policy sets nothing",
		Means: "The policy has no items. Kuma accepts it, and it changes nothing.",
		Example: `type: MeshRetry
name: r
spec: {targetRef: {kind: Mesh}}
`,
		Semantics: "kuma",
		Mend:      "Write the items, or remove the policy.",
	},
	{
		Code: DerivedIdentity, Class: ClassWarning, Title: "a path of SPIFFE IDs does not begin with a slash",
		Means: "Kuma accepts the path and appends it to the trust domain. The SPIFFE ID may not be the one that was meant.",
		Example: `type: MeshIdentity
name: mesh
spec:
  selector: {dataplane: {matchLabels: {}}}
  spiffeID: {trustDomain: td, path: 'ns/{{ .Namespace }}'}
  provider: {type: Spire}
`,
		Semantics: "kuma",
		Mend:      "Begin the path with a slash.",
	},
}
