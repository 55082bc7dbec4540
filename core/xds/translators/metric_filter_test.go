package translators

import (
	"encoding/json"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/kind/meshmetric"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/core/xds"
)

// metrics are metrics by the names that Prometheus sees, with Envoy's own names.
var metrics = map[string]string{
	"envoy_cluster_upstream_rq_total":        "cluster.default/web.upstream_rq_total",
	"envoy_cluster_upstream_rq_time":         "cluster.default/web.upstream_rq_time",
	"envoy_cluster_upstream_cx_active":       "cluster.default/web.upstream_cx_active",
	"envoy_cluster_membership_healthy":       "cluster.default/web.membership_healthy",
	"envoy_http_downstream_rq_total":         "http.inbound/10.0.0.1/80.downstream_rq_total",
	"envoy_http_rbac_allowed":                "http.inbound/10.0.0.1/80.rbac.allowed",
	"envoy_listener_downstream_cx_active":    "listener.0.0.0.0_80.downstream_cx_active",
	"envoy_server_live":                      "server.live",
	"envoy_server_memory_allocated":          "server.memory_allocated",
	"envoy_listener_manager_listener_create": "listener_manager.listener_create",
}

var metricSelectors = []meshmetric.Selector{
	{Type: meshmetric.ExactSelector, Match: "envoy_server_live"},
	{Type: meshmetric.ExactSelector, Match: "envoy_cluster_upstream_rq_total"},
	{Type: meshmetric.PrefixSelector, Match: "envoy_cluster_upstream"},
	{Type: meshmetric.PrefixSelector, Match: "envoy_server"},
	{Type: meshmetric.ContainsSelector, Match: "rbac"},
	{Type: meshmetric.ContainsSelector, Match: "_rq_"},
	{Type: meshmetric.RegexSelector, Match: "envoy_(server|http)_.*"},
	{Type: meshmetric.RegexSelector, Match: ".*_cx_active"},
	{Type: meshmetric.RegexSelector, Match: "nothing.*"},
}

// A filter selects a metric if the profiles, less what is excluded, and what is included
// select it by its name, whatever the base profile is (SPEC 11.5).
func TestMetricFilterIsThatOfTheProfiles(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 5))
	some := func() (out []meshmetric.Selector) {
		for range random.IntN(3) {
			out = append(out, metricSelectors[random.IntN(len(metricSelectors))])
		}
		return out
	}
	inexpressible := 0
	for range 300 {
		profiles := &meshmetric.Profiles{Exclude: some(), Include: some()}
		for range random.IntN(3) {
			names := []meshmetric.ProfileName{meshmetric.AllProfile, meshmetric.BasicProfile, meshmetric.NoProfile}
			profiles.AppendProfiles = append(profiles.AppendProfiles, meshmetric.Profile{Name: names[random.IntN(len(names))]})
		}
		effective := effectiveMetrics(t, profiles)
		proxy := &xds.Proxy{}
		filter := metricFilter(proxy, effective, effective.Conf.(*meshmetric.Conf).Sidecar)
		if slices.ContainsFunc(proxy.Warnings, func(w xds.Warning) bool { return strings.Contains(w.Message, "has no expression") }) {
			inexpressible++
			continue
		}
		compiled := regexp.MustCompile(filter)
		for name, envoys := range metrics {
			if got, want := compiled.MatchString(envoys), selected(profiles, name); got != want {
				t.Fatalf("%+v selects %s as %s: %v, want %v by %q", profiles, name, envoys, got, want, filter)
			}
		}
	}
	if inexpressible > 10 {
		t.Errorf("%d of 300 profiles have no expression that Envoy takes", inexpressible)
	}
}

// effectiveMetrics returns the conf of a dataplane with a MeshMetric.
func effectiveMetrics(t *testing.T, profiles *meshmetric.Profiles) *results.Effective {
	t.Helper()
	policy := map[string]any{
		"type": "MeshMetric", "mesh": "default", "name": "a",
		"spec": map[string]any{"default": map[string]any{"sidecar": map[string]any{"profiles": profiles}}},
	}
	dataplane := map[string]any{"type": "Dataplane", "mesh": "default", "name": "web", "networking": map[string]any{"address": "10.0.0.1"}}
	var inputs []resource.Input
	for name, document := range map[string]any{"policy.json": policy, "dataplane.json": dataplane} {
		data, err := json.Marshal(document)
		if err != nil {
			t.Fatal(err)
		}
		inputs = append(inputs, resource.Input{Name: name, Data: data})
	}
	set, err := (&resource.Loader{Kinds: kinds.All()}).Decode(t.Context(), inputs...)
	if err != nil {
		t.Fatal(err)
	}
	view, err := core.Options{Semantics: core.TargetRef}.NewView(t.Context(), kinds.All(), set)
	if err != nil {
		t.Fatal(err)
	}
	config, err := view.Config(view.Dataplanes("default")[0], "MeshMetric", core.Enforced)
	if err != nil {
		t.Fatal(err)
	}
	return config.Default
}

// selected reports whether profiles select a metric, as SPEC 11.5 reads.
func selected(p *meshmetric.Profiles, name string) bool {
	by := func(list []meshmetric.Selector) bool {
		return slices.ContainsFunc(list, func(s meshmetric.Selector) bool { return s.Selects(name) })
	}
	base := len(p.AppendProfiles) == 0
	for _, profile := range p.AppendProfiles {
		base = base || profile.Name == meshmetric.AllProfile || profile.Name == meshmetric.BasicProfile && slices.Contains(basicMetrics, name)
	}
	return base && !by(p.Exclude) || by(p.Include)
}
