package core_test

import (
	"context"
	"slices"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/kind/meshtimeout"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// listing is a dataplane that lists an outbound to a MeshService before one by tags.
const listing = `
type: MeshService
name: backend
mesh: default
spec: {ports: [{port: 80}], selector: {dataplaneTags: {kuma.io/service: backend}}}
---
type: Dataplane
name: web-1
mesh: default
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web}}]
  outbound:
    - {port: 10001, backendRef: {kind: MeshService, name: backend, port: 80}}
    - {port: 10002, tags: {kuma.io/service: other}}
---
type: MeshTimeout
name: base
mesh: default
spec: {targetRef: {kind: Mesh}, to: [{targetRef: {kind: Mesh}, default: {connectionTimeout: 10s}}]}
---
type: MeshTimeout
name: own
mesh: default
spec: {targetRef: {kind: Mesh}, to: [{targetRef: {kind: MeshService, name: backend}, default: {connectionTimeout: 2s}}]}
`

// TestOutbounds reads the confs of both types of outbounds (SPEC 4.2, 17.3).
func TestOutbounds(t *testing.T) {
	set, err := (&resource.Loader{Kinds: kinds.All()}).Decode(context.Background(), resource.Input{Name: "mesh.yaml", Data: []byte(listing)})
	if err != nil {
		t.Fatal(err)
	}
	for _, as := range []semantics.Semantics{semantics.TargetRef, semantics.Kuma} {
		view, err := core.Options{Semantics: as}.NewView(context.Background(), kinds.All(), set)
		if err != nil {
			t.Fatal(err)
		}
		d := view.Dataplane(resource.ID{Mesh: "default", Name: "web-1"})
		outbounds, err := view.Outbounds(d, "MeshTimeout", core.Enforced)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, o := range outbounds {
			timeout, err := results.ConfOf[meshtimeout.Conf](o.Effective)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, o.String()+" "+timeout.ConnectionTimeout.String())
			for _, origin := range o.Fields() {
				got = append(got, "by "+origin.Policy.Name)
			}
		}
		want := []string{"kuma.io/service=other 10s", "by base", "MeshService backend:80 2s", "by own"}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", as, got, want)
		}
		config, err := view.Config(d, "MeshTimeout", core.Enforced)
		if err != nil {
			t.Fatal(err)
		}
		if len(config.Outbounds) != 1 || config.Outbounds[0].Index != 1 || config.Outbound(0) != nil || config.Outbound(1) == nil {
			t.Errorf("%s: the config has the outbounds %+v, want the one by tags", as, config.Outbounds)
		}
	}
}

// TestOutboundsOfUnknown returns the errors of Config.
func TestOutboundsOfUnknown(t *testing.T) {
	view := core.NewEngine(kinds.All(), core.Options{Semantics: core.TargetRef}).View()
	if _, err := view.Outbounds(nil, "MeshTimeout", core.Enforced); err == nil {
		t.Error("a nil dataplane has outbounds")
	}
	if _, err := view.Outbounds(nil, "MeshTimeouts", core.Enforced); err == nil {
		t.Error("an unknown kind has outbounds")
	}
}
