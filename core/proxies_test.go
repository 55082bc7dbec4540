package core_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/resourcetest"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// The objects of a mesh change the proxies of its dataplanes, by Kuma's semantics, even if no
// dataplane is in the batch: a builtin gateway has the listeners of its MeshGateway, and a
// transparent proxy the service tags of the Config of virtual addresses (SPEC 17.3).
func TestObjectsCompleteProxies(t *testing.T) {
	const (
		gateway   = "{type: Dataplane, name: gateway, networking: {address: 10.0.0.1, gateway: {type: BUILTIN, tags: {kuma.io/service: edge}}}}"
		web       = "{type: Dataplane, name: web, networking: {address: 10.0.0.2, inbound: [{port: 80}], outbound: [{port: 1, tags: {kuma.io/service: listed}}], transparentProxying: {redirectPortInbound: 15006, redirectPortOutbound: 15001}}}"
		timeout   = "{type: MeshTimeout, name: t, spec: {to: [{targetRef: {kind: Mesh}, default: {connectionTimeout: 1s}}]}}"
		listener  = "{type: MeshGateway, name: edge, selectors: [{match: {kuma.io/service: edge}}], conf: {listeners: [{port: 80, protocol: HTTP}]}}"
		addresses = `{type: Config, name: kuma-default-dns-vips, config: '{"0:api": {"address": "240.0.0.1", "outbounds": [{"Port": 8080, "TagSet": {"kuma.io/service": "api"}}]}}'}`
	)
	engine := core.NewEngine(kinds.All(), core.Options{Semantics: semantics.Kuma})
	id := func(kind, name string) resource.ID { return resource.ID{Kind: kind, Mesh: "default", Name: name} }
	for _, step := range []struct {
		name   string
		upsert []string
		remove []resource.ID
		want   string // what the policy selects, and the outbounds of web
	}{
		{"dataplanes alone", []string{gateway, web, timeout}, nil, "web"},
		{"a MeshGateway", []string{listener}, nil, "gateway web"},
		{"the same again", []string{listener, web}, nil, "gateway web"},
		{"a Config", []string{addresses}, nil, "gateway web; api:8080 api:80"},
		{"another mode", []string{"{type: Mesh, name: default, meshServices: {mode: Exclusive}}"}, nil, "gateway web"},
		{"no mode", nil, []resource.ID{id("Mesh", "default")}, "gateway web; api:8080 api:80"},
		{"a proxy that is not transparent", []string{strings.Replace(web, ", transparentProxying: {redirectPortInbound: 15006, redirectPortOutbound: 15001}", "", 1)}, nil, "gateway web; listed:1"},
		{"neither", []string{web}, []resource.ID{id("MeshGateway", "edge"), id("Config", "kuma-default-dns-vips")}, "web"},
	} {
		batch := core.Batch{Delete: step.remove}
		if step.upsert != nil {
			batch.Upsert = resourcetest.Decode(t, strings.Join(step.upsert, "\n---\n"))
		}
		if _, err := engine.Apply(t.Context(), batch); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if err := engine.CheckInvariants(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		view := engine.View()
		selected, err := view.SelectedBy(id("MeshTimeout", "t"))
		if err != nil {
			t.Fatal(err)
		}
		var names, outbounds []string
		for _, s := range selected {
			names = append(names, s.Dataplane.Name)
		}
		config, err := view.Config(view.Dataplane(id("Dataplane", "web")), "MeshTimeout", core.Enforced)
		if err != nil {
			t.Fatal(err)
		}
		for i, o := range view.Dataplane(id("Dataplane", "web")).Outbounds {
			if config.Outbounds[i].Effective == nil {
				t.Errorf("%s: outbound %d has no conf", step.name, i)
			}
			outbounds = append(outbounds, o.Tags.Value(resource.ServiceTag)+":"+fmt.Sprint(o.Port))
		}
		got := strings.Join(names, " ")
		if len(outbounds) > 0 {
			got += "; " + strings.Join(outbounds, " ")
		}
		if got != step.want {
			t.Errorf("%s: %s, want %s", step.name, got, step.want)
		}
	}
}

// A changed copy of a dataplane of a view is a document like any other.
func TestCopyOfCompletedDataplane(t *testing.T) {
	engine := core.NewEngine(kinds.All(), core.Options{Semantics: semantics.Kuma})
	set := resourcetest.Decode(t, "{type: MeshGateway, name: edge, selectors: [{match: {kuma.io/service: edge}}], conf: {listeners: [{port: 80, protocol: HTTP}]}}\n---\n"+
		"{type: Dataplane, name: d, networking: {address: 10.0.0.1, gateway: {type: BUILTIN, tags: {kuma.io/service: edge}}}}")
	if _, err := engine.Apply(t.Context(), core.Batch{Upsert: set}); err != nil {
		t.Fatal(err)
	}
	id := set.Dataplanes[0].ID
	changed := *engine.View().Dataplane(id)
	changed.Address = "10.0.0.2"
	if _, err := engine.Apply(t.Context(), core.Batch{Upsert: &resource.Set{Dataplanes: []*resource.Dataplane{&changed}}}); err != nil {
		t.Fatal(err)
	}
	if d := engine.View().Dataplane(id); d.Address != "10.0.0.2" || len(d.GatewayListeners()) != 1 {
		t.Errorf("the dataplane is %+v", d)
	}
}
