package translators

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/regex/automaton"
	"github.com/meshmatch/meshmatch/core/kind/meshmetric"
	"github.com/meshmatch/meshmatch/core/results"
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
func metricFilter(p *xds.Proxy, e *results.Effective, sidecar *meshmetric.Sidecar) string {
	if sidecar == nil || sidecar.Profiles == nil {
		return ""
	}
	profiles := sidecar.Profiles
	var names []string
	all := len(profiles.AppendProfiles) == 0
	for _, profile := range profiles.AppendProfiles {
		switch profile.Name {
		case meshmetric.BasicProfile:
			names = append(names, basicMetrics...)
		case meshmetric.AllProfile:
			all = true
		}
	}
	var alternatives []string
	if all {
		filter, err := allBut(p, e, profiles.Exclude)
		if err != nil {
			p.Warn(diag.NoEffectHere, e, "/sidecar/profiles/exclude", "Envoy has no expression for all metrics but these: %v; exclude less, or use profile Basic or None, and include", err)
		}
		if filter == "" {
			return ""
		}
		alternatives = append(alternatives, filter)
	} else {
		for i, s := range profiles.Exclude {
			if !slices.ContainsFunc(names, s.Selects) {
				p.Warn(diag.NoEffectHere, e, fmt.Sprintf("/sidecar/profiles/exclude/%d", i), "it selects no metric of the profiles")
			}
			names = slices.DeleteFunc(names, s.Selects)
		}
		for _, name := range names {
			alternatives = append(alternatives, wholeMetric(name))
		}
	}
	for i, s := range profiles.Include {
		if expression, ok := expressionOf(s); ok {
			alternatives = append(alternatives, expression)
		} else {
			p.Warn(diag.NoEffectHere, e, fmt.Sprintf("/sidecar/profiles/include/%d", i), noMetric)
		}
	}
	if len(alternatives) == 0 {
		return "^$" // no metric has an empty name
	}
	return strings.Join(alternatives, "|")
}

// allBut returns the expression of all metrics but those that are excluded; "" for all.
func allBut(p *xds.Proxy, e *results.Effective, exclude []meshmetric.Selector) (string, error) {
	var excluded []string
	for i, s := range exclude {
		if expression, ok := expressionOf(s); ok {
			excluded = append(excluded, expression)
		} else {
			p.Warn(diag.NoEffectHere, e, fmt.Sprintf("/sidecar/profiles/exclude/%d", i), noMetric)
		}
	}
	if len(excluded) == 0 {
		return "", nil
	}
	return complements.filterFor(excluded)
}

const noMetric = "it selects no metric, as the name of each begins with " + prometheusPrefix

// codes is the end of names that Prometheus sees as a label of the response code.
const codes = `(?:_[0-9]{3})?`

// wholeMetric returns the expression of one metric.
func wholeMetric(name string) string { return "^" + envoyStat(name) + codes + "$" }

// expressionOf returns the expression of a selector, and false if it selects nothing.
func expressionOf(s meshmetric.Selector) (string, bool) {
	switch s.Type {
	case meshmetric.ExactSelector:
		return wholeMetric(s.Match), true
	case meshmetric.PrefixSelector:
		return "^" + envoyStat(s.Match), true
	case meshmetric.ContainsSelector:
		return envoyStat(s.Match), true
	}
	tree, err := syntax.Parse(s.Match, syntax.Perl)
	if err != nil {
		panic(err) // the kind has compiled it
	}
	if tree = automaton.After(tree, prometheusPrefix); tree.Op == syntax.OpNoMatch {
		return "", false
	}
	return `^(?:` + ofProxy(tree) + `)` + codes + `$`, true
}

// prometheusPrefix is in front of each name.
const prometheusPrefix = "envoy_"

// separator matches what an underscore of a name replaces.
const separator = `(?:\.(?:.*\.)?|_)`

// envoyStat returns the expression of a name of Prometheus, or of a part of it.
func envoyStat(name string) string {
	parts := strings.Split(strings.TrimPrefix(name, prometheusPrefix), "_")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
		if i > 0 && parts[i] == "xx" {
			parts[i] = "[0-9]?xx" // the class of response codes is a label
		}
	}
	return strings.Join(parts, separator)
}

// ofProxy turns an expression on names of Prometheus into one on names of Envoy.
func ofProxy(tree *syntax.Regexp) string {
	return automaton.Print(tree, func(t *syntax.Regexp) (string, bool) {
		switch t.Op {
		case syntax.OpLiteral:
			parts := strings.Split(string(t.Rune), "_")
			for i, part := range parts {
				if part != "" {
					literal := &syntax.Regexp{Op: syntax.OpLiteral, Flags: t.Flags, Rune: []rune(part)}
					parts[i] = literal.String()
				}
			}
			return strings.Join(parts, separator), true
		case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
			if matchesUnderscore(t) {
				return t.String() + `|` + separator, true
			}
		case syntax.OpStar, syntax.OpPlus:
			if op := t.Sub[0].Op; op == syntax.OpAnyChar || op == syntax.OpAnyCharNotNL { // it matches a separator too
				return t.String(), true
			}
		}
		return "", false
	})
}

func matchesUnderscore(class *syntax.Regexp) bool {
	if class.Op != syntax.OpCharClass {
		return true
	}
	for i := 0; i < len(class.Rune); i += 2 {
		if class.Rune[i] <= '_' && '_' <= class.Rune[i+1] {
			return true
		}
	}
	return false
}

// complements contains expressions that match everything except what other expressions
// match. Making one takes up to about 100 ms, and the proxies of a mesh have few different
// ones.
var complements = complementMemo{known: map[string]complement{}}

type complement struct {
	expression string
	err        error
}

type complementMemo struct {
	mu    sync.Mutex
	known map[string]complement
}

// maxComplements bounds a complementMemo, which is emptied past it.
const maxComplements = 64

func (m *complementMemo) filterFor(expressions []string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := strings.Join(expressions, "\n")
	known, ok := m.known[key]
	if !ok {
		var a *automaton.Automaton
		if a, known.err = automaton.New(expressions...); known.err == nil {
			known.expression, known.err = a.Complement().Expression()
		}
		if len(m.known) == maxComplements {
			clear(m.known)
		}
		m.known[key] = known
	}
	return known.expression, known.err
}
