package audit_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/audit"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/audit/dump"
)

// alone returns the matrix of one TLS inbound with HTTP filters, a line for each cell.
func alone(t *testing.T, filters ...string) string {
	t.Helper()
	proxies, err := dump.ParseProxies([]byte(`{"configs": [{"@type": "x/envoy.admin.v3.ListenersConfigDump", "static_listeners": [{"listener": {"name": "in", "address": {"socket_address": {"address": "10.0.0.1", "port_value": 80}},
		"filter_chains": [{"transport_socket": {"typed_config": {"@type": "x/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext", "require_client_certificate": true}},
		"filters": [{"name": "hcm", "typed_config": {"@type": "x/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", "normalize_path": true, "merge_slashes": true, "http_filters": [` + strings.Join(filters, ", ") + `]}}]}]}}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	a, err := audit.NewAlone(proxies, audit.AloneQuery{})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for i := range a.Proxies[0].Cells {
		c := &a.Proxies[0].Cells[i]
		fmt.Fprintf(&b, "%s %s", a.Proxies[0].Clients[c.Client], c.Access)
		if c.When != nil {
			b.WriteString(" when " + c.When.String())
		}
		if c.AtLeast != nil {
			b.WriteString(" at least " + c.AtLeast.String() + " at most " + c.AtMost.String())
		}
		b.WriteString(strings.TrimRight(" "+c.Why, " ") + "\n")
	}
	return b.String()
}

func httpRBAC(rules string) string {
	return `{"name": "rbac", "typed_config": {"@type": "x/envoy.extensions.filters.http.rbac.v3.RBAC", ` + rules + `}}`
}

// The condition of a cell is what the filters allow the client, in the terms of requests.
func TestConditionsOfCells(t *testing.T) {
	const (
		deny  = `"rules": {"action": "DENY", "policies": {"admin": {"permissions": [{"and_rules": {"rules": [{"url_path": {"path": {"prefix": "/admin"}}}, {"not_rule": {"header": {"name": ":method", "string_match": {"exact": "GET"}}}}]}}], "principals": [{"any": true}]}}}`
		allow = `"rules": {"policies": {
			"a": {"permissions": [{"any": true}], "principals": [{"authenticated": {"principal_name": {"exact": "spiffe://td/a"}}}]},
			"b": {"permissions": [{"url_path": {"path": {"suffix": ".css"}}}, {"header": {"name": "X-Tier", "string_match": {"contains": "gold"}}}], "principals": [{"authenticated": {"principal_name": {"prefix": "spiffe://td/b"}}}]}}}`
		matcher = `"matcher": {"matcher_list": {"matchers": [{"predicate": {"not_matcher": {"single_predicate": {"input": {"typed_config": {"@type": "x/envoy.type.matcher.v3.HttpRequestHeaderMatchInput", "header_name": "x-a"}}, "value_match": {"safe_regex": {"regex": "[0-9]+"}}}}},
			"on_match": {"action": {"typed_config": {"@type": "x/envoy.config.rbac.v3.Action", "name": "n", "action": "DENY"}}}}]}, "on_no_match": {"action": {"typed_config": {"@type": "x/envoy.config.rbac.v3.Action", "name": "y"}}}}`
		metadata = `"rules": {"policies": {"m": {"permissions": [{"url_path": {"path": {"exact": "/m"}}}], "principals": [{"metadata": {"filter": "f"}}]}, "n": {"permissions": [{"url_path": {"path": {"exact": "/n"}}}], "principals": [{"any": true}]}}}`
		two      = `"rules": {"policies": {"p": {"permissions": [{"and_rules": {"rules": [{"url_path": {"path": {"safe_regex": {"regex": "/a.*"}}}}, {"url_path": {"path": {"suffix": "b"}}}]}}], "principals": [{"any": true}]}}}`
	)
	for _, c := range []struct {
		name    string
		filters []string
		want    string
	}{
		{"DENY before ALLOW", []string{httpRBAC(deny), httpRBAC(allow)}, `spiffe://td/a some when every request except /admin* or GET
others some when spiffe://td/b* *.css except /admin* or spiffe://td/b* x-tier: *gold* except /admin* or spiffe://td/b* GET *.css or spiffe://td/b* GET x-tier: *gold*
`},
		{"no condition on the client", []string{httpRBAC(matcher)}, "others some when x-a: ~[0-9]+\n"},
		{"metadata", []string{httpRBAC(metadata)}, "others unknown at least /n at most /m or /n\n"},
		{"two conditions on one part", []string{httpRBAC(two)}, "others some its condition has more than 32 clauses, or several conditions on one part of a request\n"},
		{"nothing", []string{httpRBAC(`"rules": {}`)}, "others none\n"},
	} {
		if diff := cmp.Diff(c.want, alone(t, c.filters...)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}
