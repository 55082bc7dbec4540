package snapshot_test

import (
	"slices"
	"testing"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
)

// TestIdentityIsReportedOnce: a dataplane without the identity that it should have has a
// warning in its snapshot, for each client. Package inspect reports it with its position, so
// Check does not.
func TestIdentityIsReportedOnce(t *testing.T) {
	state := stateOf(t, `
{type: Dataplane, name: web, networking: {address: 10.0.0.1, inbound: [{port: 80, protocol: grpc, tags: {kuma.io/service: web}}]}}
---
{type: MeshIdentity, name: all, spec: {selector: {dataplane: {matchLabels: {}}}, spiffeID: {trustDomain: "{{ label \"team\" }}.mesh"}, provider: {type: Spire}}}
`)
	d := state.View().Dataplane(resource.ID{Kind: resource.DataplaneKind, Mesh: "default", Name: "web"})
	for _, client := range []xds.ClientType{xds.Envoy, xds.ProxylessGRPC} {
		if w := state.Snapshot(d, client).Warnings(); !slices.ContainsFunc(w, func(w xds.Warning) bool { return w.Inspected }) {
			t.Errorf("client type %d: no warning of the identity: %v", client, w)
		}
	}
	if w := state.Check(d); len(w) != 0 {
		t.Errorf("Check has %v", w)
	}
}
