package serving

import (
	"fmt"
	"strings"
	"testing"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
)

// client is web with an outbound to each kind of destination.
const client = `
{type: Dataplane, name: web, labels: {kuma.io/zone: east}, networking: {address: 127.0.0.1,
  inbound: [{port: 10000, tags: {kuma.io/service: web}}],
  outbound: [{address: 127.0.0.1, port: 10001, backendRef: {kind: MeshService, labels: {kuma.io/display-name: pods}, port: 80}},
    {address: 127.0.0.1, port: 10002, backendRef: {kind: MeshMultiZoneService, labels: {kuma.io/display-name: all}, port: 80}},
    {address: 127.0.0.1, port: 10003, backendRef: {kind: MeshExternalService, labels: {kuma.io/display-name: outside}, port: 80}}]}}
---
{type: MeshMultiZoneService, name: all, spec: {selector: {meshService: {matchLabels: {team: a}}}, ports: [{port: 80, appProtocol: http}]}}
---
{type: MeshTrafficPermission, name: all, spec: {rules: [{default: {allow: [{path: {type: Prefix, value: /}}]}}]}}
---
{type: MeshIdentity, name: files, spec: {selector: {dataplane: {matchLabels: {}}}, spiffeID: {trustDomain: default.mesh.local}, provider: {type: Extension, extension: {name: files, config: {
  certificate: "CERTIFICATES/{{ .Name }}.pem", privateKey: "CERTIFICATES/{{ .Name }}.key", trustBundle: CERTIFICATES/ca.pem}}}}}
`

// external is a MeshExternalService at an address.
func external(address string) string {
	return fmt.Sprintf("{type: MeshExternalService, name: outside, spec: {match: {port: 80, protocol: http}, endpoints: [{address: %s, port: 10000}]}}", address)
}

// pod is a dataplane whose workload listens at another port.
func pod(name, zone, address string) string {
	return fmt.Sprintf(`
{type: Dataplane, name: %[1]s, labels: {app: %[1]s, of: pods, kuma.io/zone: %[2]s}, networking: {address: %[3]s,
  inbound: [{port: 10000, serviceAddress: %[3]s, servicePort: 10080, protocol: http, tags: {kuma.io/service: pods}}]}}
`, name, zone, address)
}

// service is a MeshService of a team that selects pods by a label. Its identities are those
// of all pods, so that a pod can join before the SPIFFE IDs change.
func service(name, app, zone string) string {
	return fmt.Sprintf(`
{type: MeshService, name: %s, labels: {team: a, kuma.io/zone: %s}, spec: {state: Available, selector: {dataplaneLabels: {matchLabels: {%s}}},
  ports: [{port: 80, targetPort: 10000, appProtocol: http}], identities: [{type: SpiffeID, value: "spiffe://default.mesh.local/dataplane/pod-1"},
    {type: SpiffeID, value: "spiffe://default.mesh.local/dataplane/pod-2"}, {type: SpiffeID, value: "spiffe://default.mesh.local/dataplane/pod-3"}]}}
`, name, zone, app)
}

// zoneProxy is a dataplane with a listener of a zone proxy.
func zoneProxy(name, zone, kind, address string) string {
	return fmt.Sprintf("{type: Dataplane, name: %[1]s, labels: {kuma.io/zone: %[2]s}, networking: {address: %[3]s, listeners: [{type: %[4]s, address: %[3]s, port: 10001}]}}", name, zone, address, kind)
}

// zoneAddress is the address of the zone west.
func zoneAddress(address string) string {
	return fmt.Sprintf("{type: MeshZoneAddress, name: west, labels: {kuma.io/zone: west}, spec: {address: %s, port: 10001}}", address)
}

// Requests to destinations succeed through Envoys while the pods, the selectors, the zones
// and the destinations themselves change, and each Envoy accepts each change. Pods of the
// other zone are reached through its ingress, and an external service through an egress.
func TestDestinations(t *testing.T) {
	envoytest.Path(t)
	for name, protocol := range map[string]corev3.ApiConfigSource_ApiType{
		"delta": corev3.ApiConfigSource_DELTA_GRPC, "state of the world": corev3.ApiConfigSource_GRPC,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMesh(t, map[string]string{
				"outside.yaml": external("127.0.0.21"), "pod-1.yaml": pod("pod-1", "east", "127.0.0.11"),
				"pod-2.yaml": pod("pod-2", "east", "127.0.0.12"), "pod-3.yaml": pod("pod-3", "west", "127.0.0.14"),
				"service.yaml":   service("pods", "app: pod-1", "east"),
				"egress.yaml":    zoneProxy("egress", "east", "ZoneEgress", "127.0.0.31"),
				"ingress-1.yaml": zoneProxy("ingress-1", "west", "ZoneIngress", "127.0.0.32"),
				"ingress-2.yaml": zoneProxy("ingress-2", "west", "ZoneIngress", "127.0.0.33"),
			})
			m.write("web.yaml", strings.ReplaceAll(client, "CERTIFICATES", m.certificates))
			m.semantics = semantics.Kuma
			for app, address := range map[string]string{"pod-1": "127.0.0.11:10080", "pod-2": "127.0.0.12:10080", "pod-3": "127.0.0.14:10080", "outside-1": "127.0.0.21:10000", "outside-2": "127.0.0.22:10000"} {
				m.startApp(app, address)
			}
			server := m.serve(firstReplica)
			authority := envoytest.NewAuthority(t)
			proxies := []string{"web", "pod-1", "pod-2", "pod-3", "egress", "ingress-1", "ingress-2"}
			started := map[string]*envoytest.Proxy{}
			for i, proxy := range proxies {
				authority.WriteFiles(t, m.certificates, proxy, "spiffe://default.mesh.local/dataplane/"+proxy)
				started[proxy] = m.startProxy(proxy, protocol, firstReplica, fmt.Sprintf("127.0.0.%d:9901", 201+i))
			}
			server.waitConverged(len(proxies))
			// shows waits until a page of a proxy's admin interface has a text.
			shows := func(proxy, page, text string) {
				eventually(t, fmt.Sprintf("%s of %s has %s", page, proxy, text), func() bool {
					body, err := started[proxy].Get(page)
					return err == nil && strings.Contains(body, m.network.Replace(text))
				})
			}
			one := startTraffic(t, m.network.Replace("http://127.0.0.1:10001/"))
			all := startTraffic(t, m.network.Replace("http://127.0.0.1:10002/"))
			outside := startTraffic(t, m.network.Replace("http://127.0.0.1:10003/"))
			one.only("pod-1")
			all.only("pod-1")
			outside.only("outside-1")

			m.write("outside.yaml", external("127.0.0.22"))
			m.write("service.yaml", service("pods", "of: pods", "east")) // the pods of the zone east
			one.flows("pod-1", "pod-2")
			all.flows("pod-1", "pod-2")
			outside.only("outside-2")

			m.write("service.yaml", service("pods", "app: pod-2", "east"))
			one.only("pod-2")
			all.only("pod-2")
			m.write("west.yaml", service("west", "app: pod-3", "west"))
			m.write("address.yaml", zoneAddress("127.0.0.32"))
			shows("web", "/clusters", "127.0.0.32:10001")
			shows("ingress-1", "/listeners", "127.0.0.32:10001")
			all.flows("pod-2") // in the zone of the client
			m.write("service.yaml", strings.Replace(service("pods", "app: pod-2", "east"), "team: a", "team: b", 1))
			all.only("pod-3")
			one.only("pod-2")

			shows("ingress-2", "/listeners", "127.0.0.33:10001")
			m.write("address.yaml", zoneAddress("127.0.0.33"))
			shows("web", "/clusters", "127.0.0.33:10001")
			all.flows("pod-3") // the worker of the proxy knows it too
			m.remove("ingress-1.yaml")
			all.only("pod-3")
			if got := server.metric("xds_nacks_total"); got != 0 {
				t.Errorf("%d NACKs", got)
			}
		})
	}
}
