package serving

import (
	"fmt"
	"strings"
	"testing"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/meshmatch/meshmatch/core/semantics"
	"github.com/meshmatch/meshmatch/core/xds/e2e/envoytest"
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
`

// external is a MeshExternalService at an address.
func external(address string) string {
	return fmt.Sprintf("{type: MeshExternalService, name: outside, spec: {match: {port: 80, protocol: http}, endpoints: [{address: %s, port: 10000}]}}", address)
}

// pod is a dataplane without a proxy.
func pod(name, zone, address string) string {
	return fmt.Sprintf(`
{type: Dataplane, name: %s, labels: {app: %s, of: pods, kuma.io/zone: %s}, networking: {address: %s,
  inbound: [{port: 10000, protocol: http, tags: {kuma.io/service: pods}}]}}
`, name, name, zone, address)
}

// service is a MeshService of a team that selects pods by a label.
func service(name, app, zone string) string {
	return fmt.Sprintf(`
{type: MeshService, name: %s, labels: {team: a, kuma.io/zone: %s}, spec: {state: Available, selector: {dataplaneLabels: {matchLabels: {%s}}},
  ports: [{port: 80, targetPort: 10000, appProtocol: http}]}}
`, name, zone, app)
}

// Requests to destinations succeed through an Envoy while the pods, the selectors and the
// destinations themselves change, and Envoy accepts each change.
func TestDestinations(t *testing.T) {
	envoytest.Path(t)
	for name, protocol := range map[string]corev3.ApiConfigSource_ApiType{
		"delta": corev3.ApiConfigSource_DELTA_GRPC, "state of the world": corev3.ApiConfigSource_GRPC,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMesh(t, map[string]string{
				"web.yaml": client, "outside.yaml": external("127.0.0.11"), "pod-1.yaml": pod("pod-1", "east", "127.0.0.11"),
				"service.yaml": service("pods", "app: pod-1", "east"),
			})
			m.semantics = semantics.Kuma
			m.startApp("pod-1", "127.0.0.11:10000")
			m.startApp("pod-2", "127.0.0.12:10000")
			server := m.serve(firstReplica)
			m.startProxy("web", protocol, firstReplica, "127.0.0.201:9901")
			server.waitConverged(1)
			one := startTraffic(t, m.network.Replace("http://127.0.0.1:10001/"))
			all := startTraffic(t, m.network.Replace("http://127.0.0.1:10002/"))
			outside := startTraffic(t, m.network.Replace("http://127.0.0.1:10003/"))
			one.only("pod-1")
			all.only("pod-1")
			outside.only("pod-1")

			m.write("outside.yaml", external("127.0.0.12"))
			m.write("pod-2.yaml", pod("pod-2", "east", "127.0.0.12"))
			m.write("service.yaml", service("pods", "of: pods", "east"))
			one.flows("pod-1", "pod-2")
			all.flows("pod-1", "pod-2")
			outside.only("pod-2")

			m.write("west.yaml", service("west", "app: pod-1", "west"))
			m.write("pod-1.yaml", pod("pod-1", "west", "127.0.0.11"))
			one.only("pod-2")
			all.only("pod-2") // in the zone of the client
			m.write("service.yaml", strings.Replace(service("pods", "app: pod-2", "east"), "team: a", "team: b", 1))
			all.only("pod-1")
			one.only("pod-2")
			server.waitConverged(1)
			if got := server.metric("xds_nacks_total"); got != 0 {
				t.Errorf("%d NACKs", got)
			}
		})
	}
}
