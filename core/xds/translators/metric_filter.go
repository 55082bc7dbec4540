package translators

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/kind/meshmetric"
	"github.com/meshmatch/meshmatch/core/rules"
	"github.com/meshmatch/meshmatch/core/xds"
)

// Profiles and selectors of MeshMetric are by the names that Prometheus sees, such as
// envoy_cluster_upstream_rq_total. Envoy's admin interface selects by Envoy's own
// names, such as cluster.default/web.upstream_rq_total: the name without envoy_, with
// a dot where a scope ends, and with parts in between that Prometheus sees as labels.
// So a name becomes an expression in which each underscore is a dot with any parts in
// front of it, or an underscore. The expression selects what the name selects, and
// possibly metrics that differ from it in these parts only.

// basicMetrics is the profile Basic: traffic, errors, latency and saturation of
// clusters and listeners, and the state of the proxy.
var basicMetrics = []string{
	"envoy_cluster_upstream_rq_total", "envoy_cluster_upstream_rq", "envoy_cluster_upstream_rq_xx",
	"envoy_cluster_upstream_rq_time", "envoy_cluster_upstream_rq_timeout", "envoy_cluster_upstream_rq_retry",
	"envoy_cluster_upstream_rq_active", "envoy_cluster_upstream_rq_pending_overflow",
	"envoy_cluster_upstream_cx_active", "envoy_cluster_upstream_cx_total", "envoy_cluster_upstream_cx_connect_fail",
	"envoy_cluster_membership_healthy", "envoy_cluster_membership_total", "envoy_cluster_outlier_detection_ejections_active",
	"envoy_http_downstream_rq_total", "envoy_http_downstream_rq_xx", "envoy_http_downstream_rq_time",
	"envoy_http_downstream_rq_active", "envoy_http_downstream_cx_active", "envoy_http_rbac_allowed", "envoy_http_rbac_denied",
	"envoy_tcp_downstream_cx_total", "envoy_tcp_downstream_cx_rx_bytes_total", "envoy_tcp_downstream_cx_tx_bytes_total",
	"envoy_listener_downstream_cx_active", "envoy_server_live", "envoy_server_uptime", "envoy_server_memory_allocated",
}

// metricFilter returns the expression of the metrics that the endpoint serves; "" for
// all.
func metricFilter(p *xds.Proxy, e *rules.Effective, sidecar *meshmetric.Sidecar) string {
	if sidecar == nil || sidecar.Profiles == nil {
		return ""
	}
	profiles := sidecar.Profiles
	var names []string
	for _, profile := range profiles.AppendProfiles {
		switch profile.Name {
		case meshmetric.BasicProfile:
			names = append(names, basicMetrics...)
		case meshmetric.AllProfile:
			names = append(names, "")
		}
	}
	if len(profiles.AppendProfiles) == 0 || slices.Contains(names, "") {
		for i := range profiles.Exclude {
			p.Warn(e, fmt.Sprintf("/sidecar/profiles/exclude/%d", i), "Envoy cannot leave single metrics out of all; use profile Basic or None, and include")
		}
		return ""
	}
	for i, s := range profiles.Exclude {
		if !slices.ContainsFunc(names, s.Selects) {
			p.Warn(e, fmt.Sprintf("/sidecar/profiles/exclude/%d", i), "it selects no metric of the profiles")
		}
		names = slices.DeleteFunc(names, s.Selects)
	}
	var alternatives []string
	for _, name := range names {
		alternatives = append(alternatives, "^"+envoyStat(name)+codes+"$")
	}
	for i, s := range profiles.Include {
		alternative, ok := includeExpression(s)
		if !ok {
			p.Warn(e, fmt.Sprintf("/sidecar/profiles/include/%d", i), "an expression on the names of Prometheus cannot be one on those of Envoy; use Exact, Prefix or Contains")
			continue
		}
		alternatives = append(alternatives, alternative)
	}
	if len(alternatives) == 0 {
		return "^$" // no metric has an empty name
	}
	return strings.Join(alternatives, "|")
}

// codes is the end of names that Prometheus sees as a label of the response code.
const codes = `(?:_[0-9]{3}|_[0-9]xx)?`

// includeExpression returns the expression of a selector, and whether there is one.
func includeExpression(s meshmetric.Selector) (string, bool) {
	switch s.Type {
	case meshmetric.ExactSelector:
		return "^" + envoyStat(s.Match) + codes + "$", true
	case meshmetric.PrefixSelector:
		return "^" + envoyStat(s.Match), true
	case meshmetric.ContainsSelector:
		return envoyStat(s.Match), true
	}
	return "", false
}

// envoyStat returns the expression of a name of Prometheus, or of a part of it.
func envoyStat(name string) string {
	parts := strings.Split(strings.TrimPrefix(name, "envoy_"), "_")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return strings.Join(parts, `(?:\.(?:.*\.)?|_)`)
}
