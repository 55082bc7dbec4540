package stories

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
	"github.com/meshmatch/meshmatch/core/xds/translators"
)

// client is web with outbounds to resources. Its clients are the tests.
const client = `
type: Dataplane
mesh: default
name: web
labels: {kuma.io/zone: east}
networking:
  address: 127.0.0.1
  inbound: [{name: http, port: 10000, serviceAddress: 127.0.0.1, servicePort: 10080, protocol: http, tags: {kuma.io/service: web}}]
  outbound:
`

// withClient returns the shop with outbounds of web that the lines list, and with other
// resources.
func withClient(outbounds, more string) string {
	rest := shop[strings.Index(shop, "---\n"):]
	return client + outbounds + rest + more
}

// services are MeshServices of the shop, with ports by number and by name.
const services = `
type: MeshService
mesh: default
name: backend
labels: {kuma.io/zone: east, kuma.io/origin: zone}
spec:
  selector: {dataplaneTags: {kuma.io/service: backend}}
  ports: [{port: 80, targetPort: http, appProtocol: http}, {port: 81, targetPort: missing, appProtocol: http}]
---
type: MeshService
mesh: default
name: store
labels: {kuma.io/zone: east}
spec:
  selector: {dataplaneTags: {kuma.io/service: store}}
  ports: [{port: 5432, targetPort: 10000}]
---
type: MeshService
mesh: default
name: greeter
labels: {kuma.io/zone: east}
spec:
  selector: {dataplaneTags: {kuma.io/service: greeter}}
  ports: [{port: 7, name: main, targetPort: grpc, appProtocol: grpc}]
---
type: MeshService
mesh: default
name: pod
labels: {kuma.io/zone: east}
spec:
  selector: {dataplaneRef: {name: cart-1}}
  ports: [{port: 80, targetPort: 10000, appProtocol: http}]
---
`

// destinationStories are about outbounds to resources (SPEC 17.4), as Kuma reads them. No
// translator has a part in them.
var destinationStories = []story{{
	name: "MeshServices in plain text", semantics: semantics.Kuma,
	mesh: withClient(`
  - {address: 127.0.0.1, port: 10001, backendRef: {kind: MeshService, name: backend, port: 80}}
  - {address: 127.0.0.1, port: 10002, backendRef: {kind: MeshService, name: store, port: 5432}}
  - {address: 127.0.0.1, port: 10003, backendRef: {kind: MeshService, name: greeter, port: 7}}
  - {address: 127.0.0.1, port: 10004, backendRef: {kind: MeshService, labels: {kuma.io/display-name: pod}}}
  - {address: 127.0.0.1, port: 10005, backendRef: {kind: MeshService, name: backend, port: 81}}
`, services),
	proxies: []string{"web", "backend-1", "greeter-1", "cart-1", "store-1"},
	down:    []string{"backend-2"},
	steps: []step{
		{name: "a port by name", do: get("127.0.0.1:10001/"), want: "200 backend-1"},
		{name: "a port by number", do: eventually("store-1: ping", line("127.0.0.1:10002")), want: "store-1: ping"},
		{name: "gRPC", do: callGRPC("127.0.0.1:10003"), want: "OK greeter-1"},
		{name: "a headless service", do: get("127.0.0.1:10004/"), want: "200 cart-1"},
		{name: "a port that no inbound has", do: get("127.0.0.1:10005/"), want: "503"},
	},
}, {
	name: "MeshServices by TLS", semantics: semantics.Kuma,
	mesh: withClient(`
  - {address: 127.0.0.1, port: 10001, backendRef: {kind: MeshService, name: backend, port: 80}}
  - {address: 127.0.0.1, port: 10004, backendRef: {kind: MeshService, name: cart, port: 80}}
  - {address: 127.0.0.1, port: 10005, backendRef: {kind: MeshService, name: other, port: 80}}
`, services+identities+`
type: MeshService
mesh: default
name: cart
labels: {kuma.io/zone: east}
spec:
  selector: {dataplaneTags: {kuma.io/service: cart}}
  identities: [{type: SpiffeID, value: "spiffe://default.mesh.local/cart-1"}]
  ports: [{port: 80, targetPort: http, appProtocol: http}]
---
type: MeshService
mesh: default
name: other
labels: {kuma.io/zone: east}
spec:
  selector: {dataplaneTags: {kuma.io/service: cart}}
  identities: [{type: SpiffeID, value: "spiffe://default.mesh.local/other"}, {type: ServiceTag, value: cart}]
  ports: [{port: 80, targetPort: http, appProtocol: http}]
---
type: MeshTrafficPermission
mesh: default
name: web-only
spec:
  targetRef: {kind: MeshService, name: cart}
  rules:
  - default: {allow: [{spiffeId: {type: Exact, value: "spiffe://default.mesh.local/web"}}]}
`),
	proxies: []string{"web", "backend-1", "cart-1"},
	down:    []string{"backend-2"},
	steps: []step{
		{name: "without identities of the service", do: get("127.0.0.1:10001/"), want: "200 backend-1"},
		{name: "with its identities", do: get("127.0.0.1:10004/seen"), want: "200 cart-1"},
		{name: "the client as the workload sees it", do: clientOf("cart-1", "/seen"), want: "spiffe://default.mesh.local/web"},
		{name: "with the identities of another service", do: get("127.0.0.1:10005/"), want: "503"},
	},
}}

// A service is called by TLS, and neither it nor its dataplanes have identities.
var withoutIdentities = story{
	name: "a MeshService without identities", semantics: semantics.Kuma,
	mesh: strings.NewReplacer(
		"name: web\nlabels: {", "name: web\nlabels: {identified: 'yes', ",
		"name: backend-1\nlabels: {", "name: backend-1\nlabels: {identified: 'yes', ",
		"matchLabels: {}", "matchLabels: {identified: 'yes'}",
	).Replace(withClient(`
  - {address: 127.0.0.1, port: 10001, backendRef: {kind: MeshService, name: backend, port: 80}}
  - {address: 127.0.0.1, port: 10002, backendRef: {kind: MeshService, name: store, port: 5432}}
`, services+identities)),
	proxies: []string{"web", "backend-1"},
	down:    []string{"backend-2"},
	steps: []step{
		{name: "the SPIFFE IDs of its dataplanes", do: get("127.0.0.1:10001/"), want: "200 backend-1"},
		// The workload has a certificate of the CA of the mesh.
		{name: "none", do: line("127.0.0.1:10002"), want: "closed"},
	},
}

// zoneProxies are an egress of the zone east and an ingress of the zone west.
const zoneProxies = `
type: Dataplane
mesh: default
name: egress-east
labels: {kuma.io/zone: east, proxy: egress}
networking: {address: 127.0.0.61, listeners: [{address: 127.0.0.61, type: ZoneEgress, port: 10002, name: out}]}
---
type: Dataplane
mesh: default
name: ingress-west
labels: {kuma.io/zone: west, proxy: ingress}
networking: {address: 127.0.0.62, listeners: [{address: 127.0.0.62, type: ZoneIngress, port: 10001, name: in}]}
---
type: MeshZoneAddress
mesh: default
name: west
labels: {kuma.io/zone: west}
spec: {address: 127.0.0.62, port: 10001}
---
`

// MeshMultiZoneServices join MeshServices of two zones. The workloads of some are down.
var multiZones = story{
	name: "MeshMultiZoneServices", semantics: semantics.Kuma,
	mesh: withClient(`
  - {address: 127.0.0.1, port: 10001, backendRef: {kind: MeshMultiZoneService, labels: {joins: backend}}}
  - {address: 127.0.0.1, port: 10002, backendRef: {kind: MeshMultiZoneService, labels: {joins: flat}}}
  - {address: 127.0.0.1, port: 10003, backendRef: {kind: MeshMultiZoneService, labels: {joins: remote}}}
  - {address: 127.0.0.1, port: 10004, backendRef: {kind: MeshMultiZoneService, labels: {joins: unavailable}}}
`, identities+zoneProxies+zonal("backend", "east", "Available")+zonal("backend", "west", "Available")+
		zonal("greeter", "west", "Available")+zonal("store", "west", "Unavailable")+
		multiZone("backend", "backend", "http")+multiZone("flat", "backend", "http")+multiZone("remote", "greeter", "grpc")+multiZone("unavailable", "store", "tcp")+`
type: MeshLoadBalancingStrategy
mesh: default
name: flat
spec:
  to:
  - {targetRef: {kind: MeshMultiZoneService, labels: {joins: flat}}, default: {localityAwareness: {disabled: true}}}
`),
	proxies: []string{"web", "backend-1", "backend-2", "greeter-2", "ingress-west"},
	steps: []step{
		{name: "the zone of the client first", do: each(4, get("127.0.0.1:10001/")), want: "200 backend-1"},
		{name: "all zones", do: each(8, get("127.0.0.1:10002/")), want: "200 backend-1, 200 backend-2"},
		{name: "the other zone, as this one has none", do: callGRPC("127.0.0.1:10003"), want: "OK greeter-2"},
		{name: "not available in the other zone", do: line("127.0.0.1:10004"), want: "closed"},
	},
}

// zonal returns a MeshService of the shop in a zone.
func zonal(service, zone, state string) string {
	return fmt.Sprintf(`
type: MeshService
mesh: default
name: %[1]s-%[2]s
labels: {kuma.io/zone: %[2]s, app: %[1]s}
spec: {state: %[3]s, selector: {dataplaneTags: {kuma.io/service: %[1]s}}, ports: [{port: 80, targetPort: 10000}]}
---
`, service, zone, state)
}

// multiZone returns a MeshMultiZoneService of the MeshServices of a service.
func multiZone(name, service, protocol string) string {
	return fmt.Sprintf(`
type: MeshMultiZoneService
mesh: default
name: %[1]s
labels: {joins: %[1]s}
spec: {selector: {meshService: {matchLabels: {app: %[2]s}}}, ports: [{port: 80, appProtocol: %[3]s}]}
---
`, name, service, protocol)
}

// Routes have destinations as backends, by labels and by name.
var destinationBackends = story{
	name: "backends of routes", semantics: semantics.Kuma,
	mesh: identities + zoneProxies + withClient(`
  - {address: 127.0.0.1, port: 10001, backendRef: {kind: MeshService, name: backend, port: 80}}
  - {address: 127.0.0.1, port: 10002, backendRef: {kind: MeshService, name: store, port: 5432}}
  - {address: 127.0.0.1, port: 10003, tags: {kuma.io/service: backend, kuma.io/protocol: http}}
`, services+zonal("backend", "west", "Available")+zonal("cart", "east", "Available")+multiZone("west", "backend", "http")+
		strings.Replace(outsideService, "PORT", "8443", 1)+`
type: MeshHTTPRoute
mesh: default
name: paths
labels: {kuma.io/zone: east, kuma.io/origin: zone}
spec:
  to:
  - targetRef: {kind: MeshService, name: backend}
    rules:
    - {matches: [{path: {type: PathPrefix, value: /cart}}], default: {backendRefs: [{kind: MeshService, labels: {app: cart}, port: 80}]}}
    - {matches: [{path: {type: PathPrefix, value: /pod}}], default: {backendRefs: [{kind: MeshService, name: pod, port: 80}]}}
    - {matches: [{path: {type: PathPrefix, value: /west}}], default: {backendRefs: [{kind: MeshMultiZoneService, labels: {joins: west}, port: 80}]}}
    - {matches: [{path: {type: PathPrefix, value: /outside}}], default: {backendRefs: [{kind: MeshExternalService, name: outside}]}}
    - {matches: [{path: {type: PathPrefix, value: /none}}], default: {backendRefs: [{kind: MeshService, labels: {app: none}, port: 80}]}}
---
type: MeshTCPRoute
mesh: default
name: connections
labels: {kuma.io/zone: east, kuma.io/origin: zone}
spec:
  to:
  - {targetRef: {kind: MeshService, name: store}, rules: [{default: {backendRefs: [{kind: MeshService, labels: {app: store}, port: 80}]}}]}
---
`+zonal("store", "west", "Available")),
	proxies: []string{"web", "backend-1", "backend-2", "cart-1", "store-2", "egress-east", "ingress-west"},
	steps: []step{
		{name: "no rule", do: get("127.0.0.1:10001/"), want: "200 backend-1"},
		{name: "a MeshService by labels", do: get("127.0.0.1:10001/cart"), want: "200 cart-1"},
		{name: "a MeshService by name", do: get("127.0.0.1:10001/pod"), want: "200 cart-1"},
		{name: "a MeshMultiZoneService", do: get("127.0.0.1:10001/west"), want: "200 backend-2"},
		{name: "an external service", do: outside("127.0.0.1:10001/outside"), want: "host=outside.example sni=outside.example client="},
		{name: "nothing is found", do: status("127.0.0.1:10001/none"), want: "503"},
		{name: "connections", do: eventually("store-2: ping", line("127.0.0.1:10002")), want: "store-2: ping"},
		{name: "an outbound by tags", do: get("127.0.0.1:10003/cart"), want: "200 cart-1"},
	},
}

// A transparent proxy reaches destinations at their virtual addresses alone, as the mesh
// allows no passthrough. The virtual address of a headless MeshService is the address of
// its pod.
var virtualAddresses = story{
	name: "virtual addresses", semantics: semantics.Kuma,
	mesh: shop + identities + zoneProxies + `
type: Mesh
name: default
networking: {outbound: {passthrough: false}}
---
type: Dataplane
mesh: default
name: hidden
labels: {kuma.io/zone: east}
networking:
  address: 127.0.0.51
  transparentProxying: {redirectPortOutbound: 15951, redirectPortInbound: 15961}
  inbound: [{port: 10000, serviceAddress: 127.0.0.51, servicePort: 10080, protocol: http, tags: {kuma.io/service: hidden}}]
---
` + headless("backend-1", "east", "127.0.0.11") + headless("backend-2", "west", "127.0.0.12") + headless("hidden", "east", "127.0.0.51") +
		zonal("backend", "east", "Available") + zonal("backend", "west", "Available") +
		strings.Replace(zonal("cart", "east", "Available"), "spec:", "status: {vips: [{ip: 127.0.0.90}]}\nspec:", 1) +
		strings.Replace(multiZone("all", "backend", "http"), "spec:", "status: {vips: [{ip: 127.0.0.91}]}\nspec:", 1) +
		strings.Replace(strings.Replace(outsideService, "PORT", "8443", 1), "spec:", "status: {vip: {ip: 127.0.0.92}}\nspec:", 1),
	proxies: []string{"hidden", "backend-1", "backend-2", "cart-1", "egress-east", "ingress-west"},
	steps: []step{
		{name: "a pod", do: each(3, get("127.0.0.51:15951/", redirectedFrom("127.0.0.11:10000"))), want: "200 backend-1"},
		{name: "the pod of another zone", do: each(3, get("127.0.0.51:15951/", redirectedFrom("127.0.0.12:10000"))), want: "200 backend-2"},
		{name: "another port of a pod", do: get("127.0.0.51:15951/", redirectedFrom("127.0.0.11:10081")), want: "closed"},
		{name: "the pod itself, by its inbound", do: get("127.0.0.51:15951/", as(webID), redirectedFrom("127.0.0.51:10000")), want: "200 hidden"},
		{name: "its inbound", do: get("127.0.0.51:15961/", as(webID), redirectedFrom("127.0.0.51:10000")), want: "200 hidden"},
		{name: "a MeshService", do: eventually("200 cart-1", get("127.0.0.51:15951/", redirectedFrom("127.0.0.90:80"))), want: "200 cart-1"},
		{name: "a MeshMultiZoneService", do: each(4, get("127.0.0.51:15951/", redirectedFrom("127.0.0.91:80"))), want: "200 backend-1"},
		{name: "an external service", do: get("127.0.0.51:15951/", redirectedFrom("127.0.0.92:9000")), want: "200"},
		{name: "no destination", do: get("127.0.0.51:15951/", redirectedFrom("127.0.0.93:80")), want: "closed"},
	},
}

// headless returns the MeshService of a pod.
func headless(pod, zone, address string) string {
	return fmt.Sprintf(`
type: MeshService
mesh: default
name: pod-%[1]s
labels: {kuma.io/zone: %[2]s, headless: "true"}
status: {vips: [{ip: %[3]s}]}
spec: {state: Available, selector: {dataplaneRef: {name: %[1]s}}, ports: [{port: 10000, appProtocol: http}]}
---
`, pod, zone, address)
}

// outsideService is the service outside of the mesh, at a port.
const outsideService = `
type: MeshExternalService
mesh: default
name: outside
labels: {kuma.io/zone: east}
spec:
  match: {type: HostnameGenerator, port: 9000, protocol: http}
  endpoints: [{address: outside.example, port: PORT}]
  tls: {enabled: true, verification: {caCert: {inlineString: OTHER-BUNDLE}}}
---
`

func TestDestinations(t *testing.T) {
	envoytest.Path(t)
	for _, s := range slices.Concat(destinationStories, []story{withoutIdentities, multiZones, destinationBackends, virtualAddresses}) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.run(t, translators.All(), func(x step) string { return x.want })
		})
	}
}
