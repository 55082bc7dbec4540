package destination_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/destination"
	"github.com/meshmatch/meshmatch/core/internal/resourcetest"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

const twoNamespaces = `
{type: MeshService, name: web, labels: {k8s.kuma.io/namespace: a}, spec: {ports: [{port: 80}, {port: 81, name: admin}]}, status: {vips: [{ip: 241.0.0.1}]}}
---
{type: MeshService, name: api, labels: {k8s.kuma.io/namespace: a}, spec: {ports: [{port: 80}]}, status: {vips: [{ip: 241.0.0.2}]}}
---
{type: Dataplane, name: a, labels: {k8s.kuma.io/namespace: a}, networking: {address: 10.0.0.1, inbound: [{port: 1, tags: {kuma.io/service: a}}], transparentProxying: {redirectPortInbound: 15006, redirectPortOutbound: 15001}}}
---
{type: Dataplane, name: b, labels: {k8s.kuma.io/namespace: b}, networking: {address: 10.0.0.2, inbound: [{port: 1, tags: {kuma.io/service: b}}], transparentProxying: {redirectPortInbound: 15006, redirectPortOutbound: 15001}}}
---
{type: MeshTimeout, name: all, spec: {to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1s, connectionTimeout: 1s}}]}}
---
{type: MeshTimeout, name: web, labels: {k8s.kuma.io/namespace: a, kuma.io/policy-role: producer}, spec: {to: [{targetRef: {kind: MeshService, name: web}, default: {idleTimeout: 2s}}]}}
---
{type: MeshTimeout, name: admin, labels: {k8s.kuma.io/namespace: b, kuma.io/policy-role: consumer}, spec: {to: [{targetRef: {kind: MeshService, name: web, namespace: a, sectionName: admin}, default: {idleTimeout: 3s}}]}}
`

func dataplane(t *testing.T, view *core.View, name string) *resource.Dataplane {
	for _, d := range view.Dataplanes("default") {
		if d.Name == name {
			return d
		}
	}
	t.Fatalf("there is no dataplane %s", name)
	return nil
}

// Equal items give one conf: for outbounds without own items, for dataplanes of two
// namespaces, and for two calls.
func TestConfsAreShared(t *testing.T) {
	set := resourcetest.Decode(t, twoNamespaces)
	view, err := core.Options{Semantics: semantics.Kuma}.NewView(t.Context(), kinds.All(), set)
	if err != nil {
		t.Fatal(err)
	}
	type read struct {
		outbounds []destination.Outbound
		*destination.Confs
	}
	of := func(name string) read {
		d := dataplane(t, view, name)
		return read{view.DestinationOutbounds(d), view.DestinationConfs(d, "MeshTimeout", core.Enforced)}
	}
	a, b, again := of("a"), of("b"), of("a")
	const api, web, admin = 0, 1, 2 // the outbounds, in the order of the destinations
	for i, want := range []struct{ a, b int }{api: {0, 0}, web: {1, 1}, admin: {1, 2}} {
		for which, r := range map[string]read{"a": a, "b": b, "a again": again} {
			n := want.a
			if which == "b" {
				n = want.b
			}
			got := r.ConfigFor(&r.outbounds[i])
			if last := got.Origins[len(got.Origins)-1].Policy.Name; last != []string{"all", "web", "admin"}[n] {
				t.Errorf("%s: the last item of outbound %d is of %s", which, i, last)
			}
			if got.Effective != r.All(r.outbounds)[i].Effective {
				t.Errorf("%s: outbound %d has two confs", which, i)
			}
		}
		if x, y := a.ConfigFor(&a.outbounds[i]), again.ConfigFor(&again.outbounds[i]); x.Effective != y.Effective {
			t.Errorf("outbound %d: two questions have two confs", i)
		}
		if x, y := a.ConfigFor(&a.outbounds[i]), b.ConfigFor(&b.outbounds[i]); (x.Effective == y.Effective) != (want.a == want.b) {
			t.Errorf("outbound %d: the dataplanes have the same items: %v, and one conf: %v", i, want.a == want.b, x.Effective == y.Effective)
		}
		if n := testing.AllocsPerRun(100, func() { a.ConfigFor(&a.outbounds[i]) }); n > 0 {
			t.Errorf("outbound %d: a conf that is known takes %v allocations", i, n)
		}
	}
	if none := (*destination.Confs)(nil); none.ConfigFor(&a.outbounds[0]).Effective != nil || none.All(a.outbounds) != nil {
		t.Error("a nil Confs has confs")
	}
}

const routesOfPorts = `
{type: MeshHTTPRoute, name: z-both, labels: {k8s.kuma.io/namespace: a, kuma.io/policy-role: producer}, spec: {to: [{targetRef: {kind: MeshService, name: web}, rules: []}, {targetRef: {kind: MeshService, name: web, sectionName: admin}, rules: []}]}}
---
{type: MeshHTTPRoute, name: admin, labels: {k8s.kuma.io/namespace: a, kuma.io/policy-role: producer}, spec: {to: [{targetRef: {kind: MeshService, name: web, sectionName: admin}, rules: []}]}}
---
{type: MeshTCPRoute, name: tcp, labels: {k8s.kuma.io/namespace: a, kuma.io/policy-role: producer}, spec: {to: [{targetRef: {kind: MeshService, name: web}, rules: [{default: {backendRefs: [{kind: MeshService, name: api, port: 80}]}}]}]}}
---
{type: MeshHTTPRoute, name: for-b, labels: {k8s.kuma.io/namespace: b, kuma.io/policy-role: consumer}, spec: {to: [{targetRef: {kind: MeshService, name: web, namespace: a}, rules: []}]}}
`

// An outbound has the routes that select its dataplane and have an item for its port or for
// all ports of its destination, each once, sorted by KRI. A route has none.
func TestRoutesOfOutbounds(t *testing.T) {
	loader := resource.Loader{Kinds: kinds.All()}
	set, err := loader.Decode(t.Context(), resource.Input{Name: "mesh.yaml", Data: []byte(twoNamespaces + "---" + routesOfPorts)})
	if err != nil {
		t.Fatal(err)
	}
	view, err := core.Options{Semantics: semantics.Kuma}.NewView(t.Context(), loader.Kinds, set)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][][]string{
		"a": {nil, {"z-both", "tcp"}, {"admin", "z-both", "tcp"}},
		"b": {nil, {"z-both", "for-b", "tcp"}, {"admin", "z-both", "for-b", "tcp"}},
	} {
		d := dataplane(t, view, name)
		outbounds := view.DestinationOutbounds(d)
		for i, o := range view.DestinationConfs(d, "MeshTimeout", core.Enforced).All(outbounds) {
			var got []string
			for _, r := range o.Routes {
				if got = append(got, r.Route.Name); r.Effective == nil {
					t.Errorf("%s: the route %s of outbound %d has no conf", name, r.Route.Name, i)
				}
			}
			if !slices.Equal(got, want[i]) {
				t.Errorf("%s: outbound %d has the routes %v, want %v", name, i, got, want[i])
			}
		}
		for _, o := range view.DestinationConfs(d, "MeshHTTPRoute", core.Enforced).All(outbounds) {
			if len(o.Routes) > 0 {
				t.Errorf("%s: the conf of a route has the route %s", name, o.Routes[0].Route.Name)
			}
		}
	}
}

// If a policy changes, the confs that have no item of it stay the same pointers, and a conf
// of the mesh before the change does, too.
func TestConfsOfVersions(t *testing.T) {
	loader := resource.Loader{Kinds: kinds.All()}
	decode := func(text string) *resource.Set {
		set, err := loader.Decode(t.Context(), resource.Input{Name: "mesh.yaml", Data: []byte(text)})
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	engine := core.NewEngine(loader.Kinds, core.Options{Semantics: semantics.Kuma})
	apply := func(b core.Batch) {
		if _, err := engine.Apply(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	confs := func(view *core.View, name string) (list []results.OutboundConfig) {
		d := dataplane(t, view, name)
		return view.DestinationConfs(d, "MeshTimeout", core.Enforced).All(view.DestinationOutbounds(d))
	}
	apply(core.Batch{Upsert: decode(twoNamespaces)})
	first := engine.View()
	const api, web, admin = 0, 1, 2 // the outbounds, in the order of the destinations
	a, b := confs(first, "a"), confs(first, "b")
	same := func(step string, before, after []results.OutboundConfig, want ...int) {
		t.Helper()
		for i := range after {
			if got := before[i].Effective == after[i].Effective; got != slices.Contains(want, i) {
				t.Errorf("%s: outbound %d has the same conf: %v", step, i, got)
			}
		}
	}
	timeout := `{type: MeshTimeout, name: admin, labels: {k8s.kuma.io/namespace: b, kuma.io/policy-role: consumer}, spec: {to: [{targetRef: {kind: MeshService, name: web, namespace: a, sectionName: admin}, default: {idleTimeout: 4s}}]}}`
	apply(core.Batch{Upsert: decode(timeout)})
	second := engine.View()
	same("a policy of b changes, for a", a, confs(second, "a"), api, web, admin)
	same("a policy of b changes", b, confs(second, "b"), api, web)
	remove := func(name string) {
		for _, p := range engine.View().Policies("default") {
			if p.Name == name {
				apply(core.Batch{Delete: []resource.ID{p.ID}})
			}
		}
	}
	remove("web")
	third := engine.View()
	same("the policy of the producer goes", a, confs(third, "a"), api)
	if confs(third, "a")[web].Effective != a[api].Effective {
		t.Error("without items of its own, web has another conf than api")
	}
	// Two versions that are not read in between.
	remove("all")
	apply(core.Batch{Upsert: decode(twoNamespaces)})
	last := confs(engine.View(), "b")
	same("each policy is there again", b, last)
	for i := range last {
		if !reflect.DeepEqual(last[i].Effective.Conf, b[i].Effective.Conf) {
			t.Errorf("outbound %d has another conf than with the same policies before", i)
		}
	}
	same("of the first view", a, confs(first, "a"), api, web, admin)
}
