package stories

import (
	"fmt"
	"slices"
	"strings"
)

var meshMetricStories = []story{{
	kind: "MeshMetric", name: "Prometheus", mesh: shop + `
type: MeshMetric
mesh: default
name: web
spec:
  targetRef: {kind: MeshService, name: web}
  default:
    sidecar:
      profiles:
        appendProfiles: [{name: None}]
        include: [{type: Prefix, match: envoy_cluster_upstream_rq_total}, {type: Exact, match: envoy_server_live}]
    backends: [{type: Prometheus, prometheus: {port: 5670, path: /metrics}}]
`,
	proxies: []string{"web"},
	steps: []step{
		{"a request", get("127.0.0.1:10004/"), "200 cart-1", "200 cart-1"},
		{"the families of metrics", families("127.0.0.1:5670/metrics"), "envoy_cluster_upstream_rq_total, envoy_server_live", "closed"},
		{"a value", metric("127.0.0.1:5670/metrics", `envoy_cluster_upstream_rq_total{envoy_cluster_name="default/cart"}`), "1", "closed"},
		{"the admin interface is not open", get("127.0.0.1:5670/config_dump"), "404", "closed"},
	},
}, {
	kind: "MeshMetric", name: "all metrics but some", mesh: shop + `
type: MeshMetric
mesh: default
name: web
spec:
  targetRef: {kind: MeshService, name: web}
  default:
    sidecar:
      profiles:
        appendProfiles: [{name: All}]
        exclude: [{type: Prefix, match: envoy_cluster_upstream}, {type: Exact, match: envoy_server_live}, {type: Regex, match: "envoy_http_.*_cx_(total|active)"}]
        include: [{type: Regex, match: "[a-z_]+_upstream_rq_to.al"}]
    backends: [{type: Prometheus, prometheus: {port: 5670, path: /metrics}}]
`,
	proxies: []string{"web"},
	steps: []step{
		{"a request", get("127.0.0.1:10004/"), "200 cart-1", "200 cart-1"},
		{"what is excluded", found("127.0.0.1:5670/metrics", "envoy_cluster_upstream_cx_total", "envoy_cluster_upstream_rq_completed", "envoy_server_live", "envoy_http_downstream_cx_total", "envoy_http_downstream_cx_active"), "", "closed"},
		{"what is left", found("127.0.0.1:5670/metrics", "envoy_cluster_membership_total", "envoy_server_uptime", "envoy_http_downstream_rq_total", "envoy_listener_downstream_cx_total"),
			"envoy_cluster_membership_total, envoy_server_uptime, envoy_http_downstream_rq_total, envoy_listener_downstream_cx_total", "closed"},
		{"what is included", found("127.0.0.1:5670/metrics", "envoy_cluster_upstream_rq_total"), "envoy_cluster_upstream_rq_total", "closed"},
	},
}}

// found returns a step that scrapes metrics and returns which of the names are there.
func found(url string, names ...string) func(*world) string {
	return func(w *world) string {
		all := families(url)(w)
		if all == "closed" {
			return all
		}
		there := strings.Split(all, ", ")
		return strings.Join(slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !slices.Contains(there, name) }), ", ")
	}
}

// families returns a step that scrapes metrics and returns their names.
func families(url string) func(*world) string {
	return func(w *world) string {
		reply := w.get(url)
		if reply.err != nil {
			return "closed"
		}
		var names []string
		for text := range strings.Lines(reply.body) {
			if name, ok := strings.CutPrefix(text, "# TYPE "); ok {
				names = append(names, strings.Fields(name)[0])
			}
		}
		slices.Sort(names)
		return strings.Join(names, ", ")
	}
}

// metric returns a step that scrapes metrics and returns the value of one.
func metric(url, name string) func(*world) string {
	return func(w *world) string {
		reply := w.get(url)
		if reply.err != nil {
			return "closed"
		}
		for text := range strings.Lines(reply.body) {
			if value, ok := strings.CutPrefix(text, name+" "); ok {
				return strings.TrimSpace(value)
			}
		}
		return fmt.Sprintf("no %s in %s", name, reply.body)
	}
}
