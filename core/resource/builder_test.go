package resource_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/kind/meshtimeout"
	"github.com/meshmatch/meshmatch/core/kind/meshtrace"
	"github.com/meshmatch/meshmatch/core/kind/meshtrafficpermission"
	"github.com/meshmatch/meshmatch/core/resource"
)

func ExamplePolicyBuilder() {
	policy, err := meshtimeout.New("default", "web").
		Namespace("shop").
		Select(resource.Service("web")).
		To(resource.WholeMesh(), meshtimeout.Conf{IdleTimeout: new(conf.Duration(time.Hour))}).
		Policy()
	if err != nil {
		fmt.Println(err)
		return
	}
	text, _ := json.Marshal(policy)
	fmt.Println(string(text))
	// Output:
	// {"type":"MeshTimeout","mesh":"default","name":"web","labels":{"k8s.kuma.io/namespace":"shop"},"spec":{"targetRef":{"kind":"MeshService","name":"web"},"to":[{"targetRef":{"kind":"Mesh","name":"default"},"default":{"idleTimeout":"1h"}}]}}
}

// A built policy equals the policy from a file with the same content.
func TestBuiltPolicies(t *testing.T) {
	built := func(p *resource.Policy, err error) *resource.Policy {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	get := conf.Method("GET")
	second := meshtimeout.Conf{IdleTimeout: new(conf.Duration(time.Second))}
	for want, got := range map[string]*resource.Policy{
		"{type: MeshTimeout, mesh: m, name: p, spec: {to: [{targetRef: {kind: MeshHTTPRoute, name: r}, default: {idleTimeout: 1s}}, {targetRef: {kind: MeshServiceSubset, name: a, tags: {v: '1'}}, default: {idleTimeout: 1s}}], from: [{targetRef: {kind: MeshSubset, tags: {team: x}}, default: {idleTimeout: 1s}}]}}": built(
			meshtimeout.New("m", "p").
				To(resource.HTTPRoute("r"), second).
				To(resource.ServiceSubset("a", map[string]string{"v": "1"}), second).
				From(resource.Subset(map[string]string{"team": "x"}), second).Policy()),
		"{type: MeshTrace, mesh: m, name: p, labels: {a: b}, spec: {targetRef: {kind: Dataplane, labels: {app: x}}, default: {backends: []}}}": built(
			meshtrace.New("m", "p").Label("a", "c").Label("a", "b").Select(resource.DataplanesWith(map[string]string{"app": "x"})).
				Default(meshtrace.Conf{Backends: meshtrace.Backends{}}).Policy()),
		"{type: MeshTrafficPermission, mesh: m, name: p, spec: {rules: [{default: {allow: [{method: GET}]}}]}}": built(
			meshtrafficpermission.New("m", "p").Rule(meshtrafficpermission.RuleConf{Allow: []conf.Match{{Method: &get}}}).Policy()),
		"{type: MeshTimeout, mesh: m, name: p, spec: {rules: [{matches: [{method: GET}], default: {idleTimeout: 1s}}]}}": built(
			meshtimeout.New("m", "p").Rule(second, conf.Match{Method: &get}).Policy()),
	} {
		set, errs := decode(t, want)
		if errs != "" {
			t.Fatal(errs)
		}
		if diff := cmp.Diff(set.Policies[0], got, withoutPositions); diff != "" {
			t.Errorf("-file +built:\n%s", diff)
		}
	}
}

func TestBuildersReportErrors(t *testing.T) {
	_, err := meshtrace.New("m", "p").To(resource.WholeMesh(), meshtrace.Conf{}).Policy()
	if want := "MeshTrace \"p\" in mesh \"m\": spec.default: required field is missing\nMeshTrace \"p\" in mesh \"m\": spec.to: MeshTrace has no to; it has default"; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	_, err = resource.NewDataplane("m", "d", "").Dataplane()
	if want := `Dataplane "d" in mesh "m": networking.address: must not be empty`; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// A built resource does not change when its builder is used again.
func TestBuildersCanBeUsedFurther(t *testing.T) {
	policies := meshtimeout.New("m", "p")
	first, _ := policies.To(resource.WholeMesh(), meshtimeout.Conf{}).Policy()
	second, _ := policies.To(resource.Service("a"), meshtimeout.Conf{}).Label("k", "v").Policy()
	if len(first.To) != 1 || len(second.To) != 2 || first.Labels != nil || second.Labels.Value("k") != "v" {
		t.Errorf("got %+v and %+v", first, second)
	}
	dataplanes := resource.NewDataplane("m", "d", "10.0.0.1").Namespace("shop").
		Inbound(resource.Inbound{Port: 80, Tags: tagsOf("kuma.io/service", "web")})
	one, err := dataplanes.Dataplane()
	if err != nil {
		t.Fatal(err)
	}
	two, err := dataplanes.Outbound(resource.Outbound{Port: 1, Tags: tagsOf("kuma.io/service", "db")}).Dataplane()
	if err != nil {
		t.Fatal(err)
	}
	if len(one.Inbounds) != 1 || len(one.Outbounds) != 0 || len(two.Outbounds) != 1 || one.ID != two.ID {
		t.Errorf("got %+v and %+v", one, two)
	}
	if want := (resource.ID{Kind: "Dataplane", Mesh: "m", Namespace: "shop", Name: "d"}); one.ID != want || one.Labels.Value("k8s.kuma.io/namespace") != "shop" {
		t.Errorf("got %+v", one.Meta)
	}
	gateway, err := resource.NewDataplane("m", "g", "10.0.0.1").Gateway(resource.GatewayProxy{Builtin: true}).Dataplane()
	if err != nil || gateway.ProxyType() != resource.Gateway {
		t.Errorf("got %+v, %v", gateway, err)
	}
}
