package results_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core/internal/coretest"
	"github.com/meshmatch/meshmatch/core/results"
)

// Each case has the policies before and after a change, and the places where
// the conf or an origin of the dataplane changes.
func TestDifferences(t *testing.T) {
	timeout := func(name, spec string) string {
		return "---\ntype: MeshTimeout\nname: " + name + "\nspec: " + spec + "\n"
	}
	to := func(items string) string { return timeout("t", "{to: ["+items+"]}") }
	from := func(items string) string { return timeout("f", "{from: ["+items+"]}") }
	in := func(rules string) string { return timeout("in", "{rules: ["+rules+"]}") }
	route := func(head string) string {
		return "---\ntype: MeshHTTPRoute\nname: r\n" + head + "spec: {to: [{targetRef: {kind: MeshService, name: payments}, rules: []}]}\n"
	}
	permission := func(spec string) string {
		return "---\ntype: MeshTrafficPermission\nname: p\nspec: {rules: [{default: {" + spec + "}}]}\n"
	}
	metric := func(port string) string {
		return "---\ntype: MeshMetric\nname: m\nspec: {default: {applications: [{port: " + port + "}]}}\n"
	}
	metrics := metric("80")
	const (
		idle    = "{default: {idleTimeout: 1s}}"
		request = "{default: {http: {requestTimeout: 1s}}}"
		proxy   = "---\ntype: MeshProxyPatch\nname: x\nspec: {default: {appendModifications: [{cluster: {operation: Remove}}]}}\n"
	)
	all := []string{"MeshTimeout of outbound 0", "MeshTimeout of outbound 1", "MeshTimeout of outbound 2", "MeshTimeout of outbound 3"}
	inbounds := []string{"MeshTimeout of inbound 0", "MeshTimeout of inbound 1"}
	for _, c := range []struct {
		name, before, after string
		want                []string
	}{
		{"no policies", "", "", nil},
		{"the same content", to(idle) + from(idle) + metrics + route("") + permission("allow: [{method: GET}]"), to(idle) + from(idle) + metrics + route("") + permission("allow: [{method: GET}]"), nil},
		{"a policy that sets nothing", "", in(""), nil},
		{"a policy that is overridden whole", to(idle), to(idle) + timeout("a", "{to: [{default: {idleTimeout: 9s}}]}"), nil},

		{"another value", to(idle), to("{default: {idleTimeout: 2s}}"), all},
		{"an item for one outbound", to(idle), to(idle + ", {targetRef: {kind: MeshService, name: payments}, default: {idleTimeout: 2s}}"), all[2:3]},
		{"the same conf of another policy", to(idle), timeout("t2", "{to: ["+idle+"]}"), all},
		{"the same conf of another item", to(idle), to(idle + ", " + idle), all},
		{"the same conf of another zone", to(idle), "---\ntype: MeshTimeout\nname: t\nlabels: {kuma.io/zone: east}\nspec: {to: [" + idle + "]}\n", all},
		{"items that set each other's field", to(idle + ", " + request), to(request + ", " + idle), all},

		{"the first policy of a kind", "", metrics, []string{"MeshMetric"}},
		{"the last policy of a kind", metrics, "", []string{"MeshMetric"}},
		{"another value of a default", metrics, metric("81"), []string{"MeshMetric"}},
		{"a kind in place of another", metrics + to(idle), proxy + to(idle), []string{"MeshMetric", "MeshProxyPatch"}},

		{"a route", "", route(""), []string{"MeshHTTPRoute of outbound 2"}},
		{"a route of a conf", to(idle), to(idle) + route(""), []string{"MeshHTTPRoute of outbound 2", `MeshTimeout of MeshHTTPRoute "r" of outbound 2`}},
		{"no route", to(idle) + route(""), to(idle), []string{"MeshHTTPRoute of outbound 2", `MeshTimeout of MeshHTTPRoute "r" of outbound 2`}},
		{"an item for a route", to(idle) + route(""), to(idle+", {targetRef: {kind: MeshHTTPRoute, name: r}, default: {idleTimeout: 2s}}") + route(""), []string{`MeshTimeout of MeshHTTPRoute "r" of outbound 2`}},
		{"a route of another zone", to(idle) + route(""), to(idle) + route("labels: {kuma.io/zone: east}\n"), []string{"MeshHTTPRoute of outbound 2", `MeshTimeout of MeshHTTPRoute "r" of outbound 2`}},

		{"another match", in("{matches: [{method: GET}], default: {idleTimeout: 1s}}"), in("{matches: [{method: PUT}], default: {idleTimeout: 1s}}"), inbounds},
		{"another value of a rule", in("{matches: [{method: GET}], default: {idleTimeout: 1s}}"), in("{matches: [{method: GET}], default: {idleTimeout: 2s}}"), inbounds},
		{"one more rule", in(idle), in(idle + ", {matches: [{method: GET}], default: {idleTimeout: 1s}}"), inbounds},
		{"a policy of one inbound", "", timeout("in", "{targetRef: {kind: Dataplane, sectionName: http}, rules: ["+idle+"]}"), inbounds[:1]},
		{"another permission", permission("allow: [{method: GET}]"), permission("deny: [{method: GET}]"), []string{"MeshTrafficPermission of inbound 0", "MeshTrafficPermission of inbound 1"}},

		{"another value for clients", from(idle), from("{default: {idleTimeout: 2s}}"), inbounds},
		{"other clients", from("{targetRef: {kind: MeshService, name: a}, default: {idleTimeout: 1s}}"), from("{targetRef: {kind: MeshService, name: b}, default: {idleTimeout: 1s}}"), inbounds},
		{"clients of a policy that sets nothing", in(""), from(idle), inbounds},
		{"clients that are ignored", in(idle), in(idle) + from(idle), inbounds},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, place := range results.Differences(configsOf(t, c.before), configsOf(t, c.after)) {
				got = append(got, place.String())
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("places (-want +got):\n%s", diff)
			}
		})
	}
}

// The configs of one view are the same pointers, and do not differ.
func TestDifferencesOfTheSameConfigs(t *testing.T) {
	configs := configsOf(t, "---\ntype: MeshTimeout\nname: t\nspec: {to: [{default: {idleTimeout: 1s}}]}\n")
	if places := results.Differences(configs, configs); places != nil {
		t.Errorf("got %v", places)
	}
	if places := results.Differences(configs, nil); len(places) != 4 {
		t.Errorf("of nothing: got %v", places)
	}
}

const web = `
type: Dataplane
name: web-1
networking:
  address: 10.0.0.1
  inbound:
    - {name: http, port: 80, protocol: http, tags: {kuma.io/service: web}}
    - {port: 81, tags: {kuma.io/service: admin}}
  outbound:
    - {port: 1, tags: {kuma.io/service: backend}}
    - {port: 2, tags: {kuma.io/service: backend, version: v2}}
    - {port: 3, tags: {kuma.io/service: payments}}
    - {port: 4, tags: {kuma.io/service: other}}
`

// configsOf returns the configs of a dataplane by policies.
func configsOf(t *testing.T, policies string) []*results.Config {
	t.Helper()
	view := coretest.View(t, web+policies)
	return view.Configs(view.Dataplanes("default")[0], results.Enforced)
}
