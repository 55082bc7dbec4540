package translators_test

import (
	"fmt"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/coretest"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/translators"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// The endpoints of a service with locality awareness are one resource for all
// dataplanes with the same zone and the same affinity tags. Its cluster, which depends
// on neither, is one for all. The builder panics if a part lacks an input in its key.
func TestLocalityIsSharedByZoneAndTags(t *testing.T) {
	mesh := `
type: MeshLoadBalancingStrategy
mesh: default
name: near
spec:
  to: [{targetRef: {kind: Mesh}, default: {localityAwareness: {localZone: {affinityTags: [{key: node}]}}}}]
`
	for i, client := range []struct{ name, zone, node string }{
		{"east-n1", "east", "n1"}, {"east-n1-too", "east", "n1"}, {"east-n2", "east", "n2"}, {"west-n1", "west", "n1"},
	} {
		mesh += fmt.Sprintf(`---
type: Dataplane
mesh: default
name: %s
labels: {kuma.io/zone: %s}
networking:
  address: 10.0.0.%d
  inbound: [{port: 80, tags: {kuma.io/service: web, node: %s}}]
  outbound: [{port: 10001, tags: {kuma.io/service: web}}]
`, client.name, client.zone, i+1, client.node)
	}
	view := coretest.View(t, mesh)
	state := snapshot.NewBuilder(translators.All(), snapshot.Options{Audit: true}).At(view)
	of := func(name string, kind wire.Type) *wire.Resource {
		d := view.Dataplane(resource.ID{Kind: "Dataplane", Mesh: "default", Name: name})
		for _, r := range state.Snapshot(d, xds.Envoy).Resources(kind) {
			if r.Name == "default/web" {
				return r
			}
		}
		t.Fatalf("%s has no %s", name, kind)
		return nil
	}
	for name, same := range map[string]bool{"east-n1-too": true, "east-n2": false, "west-n1": false} {
		if of("east-n1", wire.ClusterType) != of(name, wire.ClusterType) {
			t.Errorf("%s: another cluster", name)
		}
		if (of("east-n1", wire.EndpointType) == of(name, wire.EndpointType)) != same {
			t.Errorf("%s: same endpoints: %t, want %t", name, !same, same)
		}
	}
}
