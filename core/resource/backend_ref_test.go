package resource_test

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/destination"
	"github.com/meshmatch/meshmatch/core/internal/resourcetest"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// A control plane of Kuma accepts a backendRef with a name and labels, and finds it by the
// labels (SPEC 17.3).
func TestBackendRefByNameAndLabels(t *testing.T) {
	const dataplane = `{type: Dataplane, name: d, networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: d}}],
  outbound: [{address: 127.0.0.1, port: 1000, backendRef: {kind: MeshService, name: named, port: 80, labels: {app: labelled}}}]}}`
	const services = `
{type: MeshService, name: named, spec: {ports: [{port: 80}]}}
---
{type: MeshService, name: other, labels: {app: labelled}, spec: {ports: [{port: 80}]}}
`
	set := resourcetest.Decode(t, services)
	for _, as := range []struct {
		reading   diag.Reading
		semantics semantics.Semantics
	}{{diag.AsKuma2, semantics.Kuma}, {diag.AsKuma3, semantics.Kuma3}} {
		loader := resource.Loader{Kinds: kinds.All(), As: as.reading}
		loaded, err := loader.Decode(t.Context(), resource.Input{Name: "in.yaml", Data: []byte(dataplane)})
		if err != nil || len(loaded.Warnings) != 1 || loaded.Warnings[0].Code != diag.NoEffectHere {
			t.Fatalf("%v: %v: %v", as.semantics, loaded, err)
		}
		d := loaded.Dataplanes[0]
		outbounds := destination.New(as.semantics, nil, nil, set.Objects).Outbounds(d)
		if len(outbounds) != 1 || outbounds[0].Destination.Identity().Name != "other" {
			t.Errorf("%v: the outbounds are %v", as.semantics, outbounds)
		}
	}
	loader := resource.Loader{Kinds: kinds.All(), As: diag.AsTargetRef}
	if _, err := loader.Decode(t.Context(), resource.Input{Name: "in.yaml", Data: []byte(dataplane)}); err == nil {
		t.Error("targetref accepts a name beside labels")
	}
}
