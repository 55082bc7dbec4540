package snapshot_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// The endpoints of a destination lack, for a client with an earlier cluster, those that this
// cluster does not accept (SPEC 12.3).
func TestEndpointsThatAnEarlierClusterAccepts(t *testing.T) {
	const (
		dataplanes = `
{type: Dataplane, name: web, labels: {has: identity, kuma.io/zone: east}, networking: {address: 10.0.0.1, outbound: [{port: 1, %s}]}}
---
{type: MeshIdentity, name: i, spec: {selector: {dataplane: {matchLabels: {has: identity}}}, spiffeID: {trustDomain: td, path: "/{{ .Name }}"}, provider: {type: Spire, spire: {}}}}
---
{type: MeshService, name: api, labels: {kuma.io/zone: east}, spec: {selector: {dataplaneLabels: {matchLabels: {app: api}}}, ports: [{port: 80}], identities: [%s]}}
`
		id      = "{type: SpiffeID, value: spiffe://td/%s}"
		tags    = "tags: {kuma.io/service: api}"
		service = "backendRef: {kind: MeshService, name: api, port: 80}"
	)
	identified, plain := "has: identity, ", ""
	for name, c := range map[string]struct {
		semantics     semantics.Semantics
		outbound      string
		labels        [2]string // of api-1 and api-2
		before, after string    // identities of the MeshService
		first         string    // the endpoints of the second state by the cluster of the first one
	}{
		"a socket for each endpoint":          {semantics.TargetRef, tags, [2]string{identified, identified}, "", "", "10.0.0.11"},
		"an endpoint without identity":        {semantics.TargetRef, tags, [2]string{identified, plain}, "", "", "10.0.0.11 10.0.0.12"},
		"the first endpoint with an identity": {semantics.TargetRef, tags, [2]string{plain, identified}, "", "", "10.0.0.11 10.0.0.12"},
		"a socket for all":                    {semantics.Kuma, service, [2]string{identified, identified}, "", "", "10.0.0.11"},
		"identities change too":               {semantics.Kuma, service, [2]string{identified, identified}, fmt.Sprintf(id, "api-1"), fmt.Sprintf(id, "api-1") + "," + fmt.Sprintf(id, "api-2"), "10.0.0.11"},
		"identities are known before":         {semantics.Kuma, service, [2]string{identified, identified}, fmt.Sprintf(id, "api-1") + "," + fmt.Sprintf(id, "api-2"), fmt.Sprintf(id, "api-1") + "," + fmt.Sprintf(id, "api-2"), "10.0.0.11 10.0.0.12"},
		"an ID that the cluster never has":    {semantics.Kuma, service, [2]string{identified, identified}, fmt.Sprintf(id, "api-1"), fmt.Sprintf(id, "api-1"), "10.0.0.11 10.0.0.12"},
	} {
		t.Run(name, func(t *testing.T) {
			f := follow(t, c.semantics)
			api := func(i int) string {
				return fmt.Sprintf("---\n{type: Dataplane, name: api-%[1]d, labels: {%[2]sapp: api, kuma.io/zone: east}, networking: {address: 10.0.0.1%[1]d, inbound: [{port: 80, tags: {kuma.io/service: api}}]}}\n", i, c.labels[i-1])
			}
			before := web(f.apply(fmt.Sprintf(dataplanes, c.outbound, c.before) + api(1)))
			after := web(f.apply(fmt.Sprintf(dataplanes, c.outbound, c.after) + api(2)))
			clusters, endpoints := before.Resources(wire.ClusterType), after.Resources(wire.EndpointType)
			if len(clusters) != 1 || len(endpoints) != 1 {
				t.Fatalf("%d clusters and %d endpoints", len(clusters), len(endpoints))
			}
			if got := addressesOf(t, endpoints[0].AcceptedBy(clusters[0])); got != c.first {
				t.Errorf("the cluster before accepts %s, want %s", got, c.first)
			}
			if own := endpoints[0].AcceptedBy(after.Resources(wire.ClusterType)[0]); own != endpoints[0] {
				t.Errorf("the cluster of the same snapshot accepts %s only", addressesOf(t, own))
			}
		})
	}
}

// Zone proxies of Kuma 2 know a destination by another server name, which has a socket of
// its own.
func TestServerNamesArePeers(t *testing.T) {
	f := follow(t, semantics.Kuma)
	const services = `
{type: MeshService, name: api-%[1]s, labels: {team: a, kuma.io/zone: %[1]s}, spec: {state: Available, ports: [{port: 80}], identities: [{type: SpiffeID, value: spiffe://td/api}]}}
---
`
	before := web(f.apply(fmt.Sprintf(services, "south") + `
{type: Dataplane, name: web, labels: {kuma.io/zone: east}, networking: {address: 10.0.0.1, outbound: [{port: 1, backendRef: {kind: MeshMultiZoneService, labels: {kuma.io/display-name: all}, port: 80}}]}}
---
{type: MeshIdentity, name: i, spec: {selector: {dataplane: {matchLabels: {}}}, provider: {type: Spire, spire: {}}}}
---
{type: MeshMultiZoneService, name: all, spec: {selector: {meshService: {matchLabels: {team: a}}}, ports: [{port: 80}]}}
---
{type: MeshZoneAddress, name: south, labels: {kuma.io/zone: south}, spec: {address: 10.9.0.2, port: 10001}}`))
	after := web(f.apply(fmt.Sprintf(services, "north") + `
{type: ZoneIngress, name: north, zone: north, networking: {address: 10.9.0.1, port: 10001, advertisedAddress: 10.9.0.1, advertisedPort: 10001}}`))
	endpoints := after.Resources(wire.EndpointType)
	if len(endpoints) != 1 {
		t.Fatalf("%d endpoints", len(endpoints))
	}
	if all, first := addressesOf(t, endpoints[0]), addressesOf(t, endpoints[0].AcceptedBy(before.Resources(wire.ClusterType)[0])); all != "10.9.0.1 10.9.0.2" || first != "10.9.0.2" {
		t.Errorf("%s; the cluster before accepts %s", all, first)
	}
}

// A client without identity calls endpoints without TLS, whatever their identities.
func TestNoPeersWithoutTLS(t *testing.T) {
	s := web(follow(t, semantics.TargetRef).apply(followed + `---
{type: MeshIdentity, name: i, spec: {selector: {dataplane: {matchLabels: {app: none}}}, provider: {type: Spire, spire: {}}}}`))
	for _, r := range slices.Concat(s.Resources(wire.ClusterType), s.Resources(wire.EndpointType)) {
		if r.Peers != nil {
			t.Errorf("%s has the peers %v", r.Name, r.Peers.IDs())
		}
	}
}

// addressesOf returns the addresses of endpoints.
func addressesOf(t *testing.T, r *wire.Resource) string {
	t.Helper()
	m := new(endpointv3.ClusterLoadAssignment)
	if err := proto.Unmarshal(r.Body, m); err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, l := range m.Endpoints {
		for _, e := range l.LbEndpoints {
			list = append(list, e.GetEndpoint().Address.GetSocketAddress().Address)
		}
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}
