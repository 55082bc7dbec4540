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
}}

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
