package snapshot_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// racked is a dataplane with a rack in a tag, in a label, in both or in neither.
type racked struct{ name, tag, label string }

// rack returns the rack by a semantics: the tag, in Kuma 2 else the label, in Kuma 3 the label
// (SPEC 17.4).
func (r racked) rack(by semantics.Semantics) string {
	switch {
	case by == semantics.Kuma3, by == semantics.Kuma && r.tag == "":
		return r.label
	}
	return r.tag
}

func (r racked) document(address string) string {
	labels, tags := "app: "+r.name[:1], "kuma.io/service: "+r.name[:1]
	if r.label != "" {
		labels += ", rack: " + r.label
	}
	if r.tag != "" {
		tags += ", rack: " + r.tag
	}
	return fmt.Sprintf("{type: Dataplane, name: %s, labels: {kuma.io/zone: z, %s}, networking: {address: %s, inbound: [{port: 80, tags: {%s}}], "+
		"outbound: [{port: 1, tags: {kuma.io/service: b}}, {port: 2, backendRef: {kind: MeshService, labels: {kuma.io/display-name: b}, port: 80}}]}}\n---\n", r.name, labels, address, tags)
}

// The endpoints of a client's rack are a group of their own, by name and by parameters.
func TestAffinity(t *testing.T) {
	random := rand.New(rand.NewPCG(0, 0))
	pick := func() string { return []string{"", "x", "y"}[random.IntN(3)] }
	grouped := 0
	for range 60 {
		by := []semantics.Semantics{semantics.TargetRef, semantics.Kuma, semantics.Kuma3}[random.IntN(3)]
		client := racked{"a", pick(), pick()}
		text := client.document("10.0.0.1") + `{type: Mesh, name: default}
---
{type: MeshService, name: b, spec: {selector: {dataplaneLabels: {matchLabels: {app: b}}}, ports: [{port: 80, targetPort: 80}], identities: [{type: SpiffeID, value: 'spiffe://a/b'}]}}
---
{type: MeshLoadBalancingStrategy, name: near, spec: {to: [{default: {localityAwareness: {localZone: {affinityTags: [{key: rack}]}}}}]}}
---
`
		var near []string
		for i := range 4 {
			server, address := racked{fmt.Sprint("b", i), pick(), pick()}, fmt.Sprint("10.0.1.", i)
			text += server.document(address)
			if rack := client.rack(by); rack != "" && server.rack(by) == rack {
				near = append(near, address)
			}
		}
		state := snapshotState(t, by, strings.TrimSuffix(text, "---\n"))
		dataplane := state.View().Dataplanes("default")[0]
		for _, r := range state.SnapshotFor(dataplane, xds.Client{}).Resources(wire.EndpointType) {
			if got := nearOf(t, r, client.rack(by)); !slices.Equal(got, near) {
				t.Errorf("%v, %s: near are %v, want %v:\n%s", by, r.Name, got, near, text)
			}
		}
		if len(near) > 0 {
			grouped++
		}
		if by != semantics.Kuma3 { // it has no outbounds by tags
			compareLocators(t, state, dataplane, xds.Client{})
		}
	}
	if grouped < 15 {
		t.Errorf("%d worlds have endpoints in the rack of the client", grouped)
	}
}

// nearOf returns the addresses of the group of a rack.
func nearOf(t *testing.T, r *wire.Resource, rack string) (addresses []string) {
	t.Helper()
	m := new(endpointv3.ClusterLoadAssignment)
	if err := proto.Unmarshal(r.Body, m); err != nil {
		t.Fatal(err)
	}
	for _, l := range m.Endpoints {
		if l.Locality.GetSubZone() != "rack="+rack {
			continue
		}
		for _, e := range l.LbEndpoints {
			addresses = append(addresses, e.GetEndpoint().Address.GetSocketAddress().Address)
		}
	}
	slices.Sort(addresses)
	return addresses
}
