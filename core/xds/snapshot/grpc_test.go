package snapshot_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/meshmatch/meshmatch/core/internal/coretest"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/translators"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// grpcSnapshot returns the snapshot of a dataplane of a mesh.
func grpcSnapshot(t *testing.T, name string, client xds.ClientType, yaml string) *snapshot.Snapshot {
	t.Helper()
	view := coretest.View(t, yaml)
	return snapshot.NewBuilder(translators.All(), snapshot.Options{}).At(view).
		Snapshot(view.Dataplane(resource.ID{Kind: resource.DataplaneKind, Mesh: "default", Name: name}), client)
}

func namesOf(list []*wire.Resource) (names []string) {
	for _, r := range list {
		names = append(names, r.Name)
	}
	return names
}

// A gRPC server handles calls itself: its routes do not forward them. It finds its listener
// by the address that it listens on, too. An inbound that gRPC cannot serve, such as one
// for TCP, does not affect the others.
func TestInboundsOfGRPC(t *testing.T) {
	const world = `
{type: Dataplane, name: greeter, networking: {address: 10.0.0.1, inbound: [
  {port: 80, protocol: grpc, tags: {kuma.io/service: greeter}},
  {port: 81, protocol: tcp, tags: {kuma.io/service: greeter-store, kuma.io/server-first: "true"}}]}}
---
{type: MeshIdentity, name: spire, spec: {selector: {dataplane: {matchLabels: {}}}, provider: {type: Spire}}}
---
{type: MeshTrafficPermission, name: p, spec: {rules: [{default: {allow: [{spiffeId: {type: Exact, value: "spiffe://default.mesh.local/web"}}]}}]}}
---
{type: MeshTimeout, name: t, spec: {rules: [{default: {http: {requestTimeout: 3s}}}]}}
`
	for _, test := range []struct {
		name      string
		client    xds.ClientType
		listeners []string
		clusters  []string
	}{
		{"Envoy", xds.Envoy, []string{"inbound/10.0.0.1/80", "inbound/10.0.0.1/81"}, []string{"local/10.0.0.1/80", "local/10.0.0.1/81"}},
		{"gRPC", xds.ProxylessGRPC, []string{"inbound/10.0.0.1/80", "inbound/10.0.0.1:80"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			isGRPC := test.client == xds.ProxylessGRPC
			snapshot := grpcSnapshot(t, "greeter", test.client, world)
			if got := namesOf(snapshot.Resources(wire.ListenerType)); !slices.Equal(got, test.listeners) {
				t.Errorf("listeners %q, want %q", got, test.listeners)
			}
			if got := namesOf(snapshot.Resources(wire.ClusterType)); !slices.Equal(got, test.clusters) {
				t.Errorf("clusters %q, want %q", got, test.clusters)
			}
			m, err := message.Decode(snapshot.Resources(wire.RouteType)[0])
			if err != nil {
				t.Fatal(err)
			}
			for _, route := range m.(*routev3.RouteConfiguration).VirtualHosts[0].Routes {
				if got := route.GetNonForwardingAction() != nil; got != isGRPC {
					t.Errorf("a route that does not forward: %v, want %v", got, isGRPC)
				}
			}
			warning := "inbound/10.0.0.1/81: a gRPC server cannot have it: its protocol is tcp; set protocol: grpc"
			if got := warns(snapshot, warning); got != isGRPC {
				t.Errorf("warnings %q", snapshot.Warnings())
			}
		})
	}
}

func warns(s *snapshot.Snapshot, text string) bool {
	return slices.ContainsFunc(s.Warnings(), func(w xds.Warning) bool { return strings.Contains(w.String(), text) })
}

// A cluster of gRPC has addresses or one host name, and TLS for all of them or for none.
// What does not fit is left out, with a warning.
func TestEndpointsOfGRPC(t *testing.T) {
	const identities = `
---
{type: MeshIdentity, name: files, spec: {selector: {dataplane: {matchLabels: {tls: "yes"}}}, spiffeID: {path: "/{{ .Name }}"},
  provider: {type: Extension, extension: {name: files, config: {certificate: /c, privateKey: /k, trustBundle: /b}}}}}
`
	const (
		noIdentity = "endpoints without identity are left out"
		noNames    = "endpoints with host names, such as "
	)
	endpoint := func(name, address, tls string) string {
		return fmt.Sprintf("---\n{type: Dataplane, name: %s, labels: {tls: %q}, networking: {address: 10.0.0.9, advertisedAddress: %s, inbound: [{port: 80, protocol: grpc, tags: {kuma.io/service: greeter}}]}}\n", name, tls, address)
	}
	for _, test := range []struct {
		name      string
		client    string // whether it has an identity
		endpoints string
		kind      clusterv3.Cluster_DiscoveryType
		want      []string // addresses
		ids       []string // of the endpoints, if there is TLS
		warnings  []string
	}{
		{"none", "no", "", clusterv3.Cluster_EDS, nil, nil, nil},
		{"addresses", "no", endpoint("a", "10.0.0.1", "no") + endpoint("b", "10.0.0.2", "no"), clusterv3.Cluster_EDS, []string{"10.0.0.1", "10.0.0.2"}, nil, nil},
		{"one address twice", "no", endpoint("a", "10.0.0.1", "no") + endpoint("b", "10.0.0.1", "no"), clusterv3.Cluster_EDS, []string{"10.0.0.1"}, nil, nil},
		{"with identity", "yes", endpoint("a", "10.0.0.1", "yes") + endpoint("b", "10.0.0.2", "yes"), clusterv3.Cluster_EDS,
			[]string{"10.0.0.1", "10.0.0.2"}, []string{"spiffe://default.mesh.local/a", "spiffe://default.mesh.local/b"}, nil},
		{"some with identity", "yes", endpoint("a", "10.0.0.1", "no") + endpoint("b", "10.0.0.2", "yes"), clusterv3.Cluster_EDS,
			[]string{"10.0.0.2"}, []string{"spiffe://default.mesh.local/b"}, []string{noIdentity}},
		{"the client has no identity", "no", endpoint("a", "10.0.0.1", "no") + endpoint("b", "10.0.0.2", "yes"), clusterv3.Cluster_EDS, []string{"10.0.0.1", "10.0.0.2"}, nil, nil},
		{"no endpoint has one", "yes", endpoint("a", "10.0.0.1", "no"), clusterv3.Cluster_EDS, []string{"10.0.0.1"}, nil, nil},
		{"a host name", "no", endpoint("a", "a.example", "no"), clusterv3.Cluster_LOGICAL_DNS, []string{"a.example"}, nil, nil},
		{"one host name twice", "no", endpoint("a", "a.example", "no") + endpoint("b", "a.example", "no"), clusterv3.Cluster_LOGICAL_DNS, []string{"a.example"}, nil, nil},
		{"a host name with identity", "yes", endpoint("a", "a.example", "yes") + endpoint("b", "10.0.0.1", "no"), clusterv3.Cluster_LOGICAL_DNS,
			[]string{"a.example"}, []string{"spiffe://default.mesh.local/a"}, []string{noIdentity}},
		{"host names", "no", endpoint("a", "a.example", "no") + endpoint("b", "b.example", "no"), clusterv3.Cluster_LOGICAL_DNS, []string{"a.example"}, nil, []string{noNames + "b.example"}},
		{"a host name and an address", "no", endpoint("a", "a.example", "no") + endpoint("b", "10.0.0.1", "no"), clusterv3.Cluster_EDS, []string{"10.0.0.1"}, nil, []string{noNames + "a.example"}},
		{"a host name of another zone", "no", endpoint("a", "a.example", "no") + `
---
{type: MeshLoadBalancingStrategy, name: zones, spec: {to: [{targetRef: {kind: Mesh}, default: {localityAwareness: {}}}]}}`,
			clusterv3.Cluster_EDS, nil, nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := grpcSnapshot(t, "client", xds.ProxylessGRPC, fmt.Sprintf(`
{type: Dataplane, name: client, labels: {tls: %q, kuma.io/zone: east}, networking: {address: 10.0.0.9, inbound: [{port: 81, protocol: grpc, tags: {kuma.io/service: client}}],
  outbound: [{port: 1, tags: {kuma.io/service: greeter, kuma.io/protocol: grpc}}]}}
`, test.client)+test.endpoints+identities)
			cluster := only[*clusterv3.Cluster](t, s, wire.ClusterType)
			if cluster.GetType() != test.kind {
				t.Errorf("%s, want %s", cluster.GetType(), test.kind)
			}
			assignment := cluster.LoadAssignment
			if test.kind == clusterv3.Cluster_EDS {
				assignment = only[*endpointv3.ClusterLoadAssignment](t, s, wire.EndpointType)
			}
			var addresses []string
			for _, l := range assignment.Endpoints {
				for _, e := range l.LbEndpoints {
					addresses = append(addresses, e.GetEndpoint().Address.GetSocketAddress().Address)
				}
			}
			if !slices.Equal(addresses, test.want) {
				t.Errorf("endpoints %q, want %q", addresses, test.want)
			}
			var ids []string
			if socket := cluster.TransportSocket; socket != nil {
				var m tlsv3.UpstreamTlsContext
				if err := socket.GetTypedConfig().UnmarshalTo(&m); err != nil {
					t.Fatal(err)
				}
				//lint:ignore SA1019 gRPC ignores the field that replaces this one.
				for _, match := range m.CommonTlsContext.GetValidationContext().MatchSubjectAltNames {
					ids = append(ids, match.GetExact())
				}
			}
			if !slices.Equal(ids, test.ids) {
				t.Errorf("identities %q, want %q", ids, test.ids)
			}
			for _, warning := range []string{noIdentity, noNames} {
				want := slices.ContainsFunc(test.warnings, func(w string) bool { return strings.HasPrefix(w, warning) })
				if got := warns(s, warning); got != want {
					t.Errorf("warnings %q", s.Warnings())
				}
			}
			for _, warning := range test.warnings {
				if !warns(s, warning) {
					t.Errorf("warnings %q, want %q", s.Warnings(), warning)
				}
			}
		})
	}
}

// only returns the only resource of a type.
func only[M any](t *testing.T, s *snapshot.Snapshot, of wire.Type) M {
	t.Helper()
	list := s.Resources(of)
	if len(list) != 1 {
		t.Fatalf("%d resources: %q", len(list), namesOf(list))
	}
	m, err := message.Decode(list[0])
	if err != nil {
		t.Fatal(err)
	}
	return m.(M)
}
