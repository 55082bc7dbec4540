package snapshot_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// The endpoints, server names and verified names of random destinations in several zones
// follow rule 17.4.
func TestZones(t *testing.T) {
	random := rand.New(rand.NewPCG(17, 44))
	found, behind, unnamed := 0, 0, 0
	for range 400 {
		w := randomZones(random)
		documents := w.documents()
		s := web(follow(t, w.semantics).apply(documents))
		got := calledBy(t, s)
		var want []string
		all := w.endpoints()
		for name, list := range all {
			want = append(want, w.lines(name, list)...)
		}
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("%s\n%s\ngot  %s\nwant %s", w.semantics, documents, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
		}
		for _, list := range all {
			found += len(list)
			for _, e := range list {
				if e.serverName != "" {
					behind++
				}
			}
		}
		if all[w.name("out")+"/9000"] == nil {
			unnamed++
		}
	}
	if found < 1000 || behind < 200 || unnamed < 10 {
		t.Errorf("there are %d endpoints, %d of them behind zone proxies; %d external services have no server name", found, behind, unnamed)
	}
}

// lines returns a line for each endpoint of a destination, with its priority, address and
// server name, and a line with the names that are verified.
func (w *zoneWorld) lines(name string, list []naiveEndpoint) (lines []string) {
	own := slices.ContainsFunc(list, func(e naiveEndpoint) bool { return e.zone == w.client })
	called := w.identified && len(w.names(name, list)) > 0 || w.identified && w.kuma() && strings.HasPrefix(name, "all")
	for _, e := range list {
		priority := 0
		if strings.HasPrefix(name, "all") && own && e.zone != w.client && !w.disabled {
			priority = 1
		}
		serverName := ""
		if called {
			serverName = e.serverName
		}
		lines = append(lines, fmt.Sprintf("%s %d %s %s", name, priority, e.address, serverName))
	}
	for _, id := range w.names(name, list) {
		lines = append(lines, name+" verifies "+id)
	}
	return lines
}

// calledBy returns the same of the clusters of a snapshot. The names that a
// MeshMultiZoneService verifies are not among them, nor the server name that endpoints of
// its zone get.
func calledBy(t *testing.T, s *snapshot.Snapshot) (lines []string) {
	assignments := map[string]*endpointv3.ClusterLoadAssignment{}
	for _, r := range s.Resources(wire.EndpointType) {
		assignments[r.Name] = new(endpointv3.ClusterLoadAssignment)
		if err := proto.Unmarshal(r.Body, assignments[r.Name]); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range s.Resources(wire.ClusterType) {
		parts := strings.Split(r.Name, "_")
		if parts[0] != "kri" {
			continue
		}
		name := parts[5] + "/" + parts[6]
		c := new(clusterv3.Cluster)
		if err := proto.Unmarshal(r.Body, c); err != nil {
			t.Fatal(err)
		}
		sockets := map[string]*corev3.TransportSocket{"": c.TransportSocket}
		for _, m := range c.TransportSocketMatches {
			sockets[m.Match.Fields["spiffeId"].GetStringValue()] = m.TransportSocket
		}
		for _, l := range assignments[r.Name].Endpoints {
			for _, e := range l.LbEndpoints {
				address := e.GetEndpoint().Address.GetSocketAddress()
				of := e.Metadata.GetFilterMetadata()["envoy.transport_socket_match"].GetFields()["spiffeId"].GetStringValue()
				serverName := contextOf(t, sockets[of]).GetSni()
				if strings.HasPrefix(address.Address, "10.0.1.") { // a dataplane
					serverName = ""
				}
				lines = append(lines, fmt.Sprintf("%s %d %s:%d %s", name, l.Priority, address.Address, address.GetPortValue(), serverName))
			}
		}
		if strings.HasPrefix(name, "all") {
			continue
		}
		for _, san := range contextOf(t, c.TransportSocket).GetCommonTlsContext().GetCombinedValidationContext().GetDefaultValidationContext().GetMatchTypedSubjectAltNames() {
			lines = append(lines, name+" verifies "+san.Matcher.GetExact())
		}
	}
	slices.Sort(lines)
	return lines
}

// contextOf returns the TLS of a socket, which may be nil.
func contextOf(t *testing.T, socket *corev3.TransportSocket) *tlsv3.UpstreamTlsContext {
	if socket == nil {
		return nil
	}
	m := new(tlsv3.UpstreamTlsContext)
	if err := socket.GetTypedConfig().UnmarshalTo(m); err != nil {
		t.Fatal(err)
	}
	return m
}

const eastAndWest = `
{type: Dataplane, name: web, labels: {kuma.io/zone: east}, networking: {address: 10.0.0.1, transparentProxying: {redirectPortInbound: 15006, redirectPortOutbound: 15001}, inbound: [{port: 80, tags: {kuma.io/service: web}}]}}
---
{type: Dataplane, name: west, labels: {kuma.io/zone: west}, networking: {address: 10.0.0.2, transparentProxying: {redirectPortInbound: 15006, redirectPortOutbound: 15001}, inbound: [{port: 80, tags: {kuma.io/service: web}}]}}
---
{type: Dataplane, name: api-1, labels: {kuma.io/zone: west, app: api}, networking: {address: 10.0.0.3, inbound: [{port: 80, tags: {kuma.io/service: api}}]}}
---
{type: MeshService, name: api, labels: {kuma.io/zone: west}, spec: {selector: {dataplaneLabels: {matchLabels: {app: api}}}, identities: [{type: SpiffeID, value: 'spiffe://default/api'}], ports: [{port: 80}]}, status: {vips: [{ip: 241.0.0.1}]}}
---
{type: MeshService, name: db, labels: {kuma.io/zone: east}, spec: {selector: {dataplaneLabels: {matchLabels: {app: db}}}, ports: [{port: 80}]}, status: {vips: [{ip: 241.0.0.2}]}}
---
{type: MeshExternalService, name: out, spec: {match: {port: 80}, endpoints: [{address: 192.0.2.1, port: 1}]}, status: {vip: {ip: 242.0.0.1}}}
---
{type: MeshIdentity, name: i, spec: {selector: {dataplane: {matchLabels: {}}}, provider: {type: Spire, spire: {}}}}
---
{type: MeshZoneAddress, name: west, labels: {kuma.io/zone: west}, spec: {address: 10.1.0.1, port: 10001}}
---
`

// A change of a zone, or of a zone proxy, changes the endpoints of the destinations behind it
// and nothing else.
func TestChangesOfZones(t *testing.T) {
	const api, out = "kri_msvc_default_west__api_80", "kri_extsvc_default___out_80"
	for _, c := range []struct {
		name, change string
		changed      map[string][]string // resources of the dataplanes
	}{
		{"an address of a zone", "{type: MeshZoneAddress, name: west, labels: {kuma.io/zone: west}, spec: {address: 10.1.0.2, port: 10001}}",
			map[string][]string{"web": {"endpoints " + api}}},
		{"an address of a zone without clients", "{type: MeshZoneAddress, name: north, labels: {kuma.io/zone: north}, spec: {address: 10.1.0.2, port: 10001}}", nil},
		{"the same address", "{type: MeshZoneAddress, name: again, labels: {kuma.io/zone: west}, spec: {address: 10.1.0.1, port: 10001}}", nil},
		{"an ingress of a zone with addresses", "{type: ZoneIngress, name: west, zone: west, networking: {port: 1, advertisedAddress: 10.2.0.1, advertisedPort: 1}}", nil},
		{"a dataplane of another zone", "{type: Dataplane, name: api-2, labels: {kuma.io/zone: west, app: api}, networking: {address: 10.0.0.4, inbound: [{port: 80, tags: {kuma.io/service: api}}]}}",
			map[string][]string{"west": {"endpoints " + api}, "proxy-west": {"endpoints self_zoneingress_dp_in/" + api}}},
		{"another egress", "{type: Dataplane, name: egress, labels: {kuma.io/zone: west}, networking: {address: 10.0.0.9, listeners: [{address: 10.0.0.9, type: ZoneEgress, port: 10002}]}}",
			map[string][]string{"west": {"clusters " + out, "endpoints " + out}}},
		{"a zone proxy that is ready", strings.Replace(proxyOf("west"), "NotReady", "Ready", 1),
			map[string][]string{"west": {"clusters " + out, "endpoints " + out}}},
		{"a service of the other zone", "{type: MeshService, name: db, labels: {kuma.io/zone: east}, spec: {selector: {dataplaneLabels: {matchLabels: {app: none}}}, ports: [{port: 80}]}, status: {vips: [{ip: 241.0.0.2}]}}", nil},
	} {
		f := follow(t, semantics.Kuma)
		before, after := map[string]*snapshot.Snapshot{}, map[string]*snapshot.Snapshot{}
		state := f.apply(eastAndWest + proxyOf("west"))
		names := []string{"web", "west", "api-1", "proxy-west"}
		for _, name := range names {
			before[name] = snapshotOf(state, name)
		}
		state = f.apply(c.change)
		for _, name := range names {
			after[name] = snapshotOf(state, name)
			var changed []string
			for kind := range wire.Type(wire.NumTypes) {
				for _, r := range after[name].Resources(kind) {
					if !slices.Contains(before[name].Resources(kind), r) {
						changed = append(changed, fmt.Sprint(kind, " ", r.Name))
					}
				}
			}
			if !slices.Equal(changed, c.changed[name]) {
				t.Errorf("%s changes %q of %s, want %q", c.name, changed, name, c.changed[name])
			}
			if same := before[name] == after[name]; same && len(c.changed[name]) > 0 {
				t.Errorf("%s does not change %s", c.name, name)
			}
		}
		if c.changed == nil && before["web"] != after["web"] && c.name != "a service of the other zone" {
			t.Errorf("%s makes the snapshot of a client again", c.name)
		}
	}
}
