package rbac_test

import (
	"encoding/json"
	"testing"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/audit/dump"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/audit/rbac"
	"github.com/meshmatch/meshmatch/core/internal/access"
	"github.com/meshmatch/meshmatch/core/internal/request"
)

// Filters written by hand in the forms of other meshes.
const (
	istioFilters = `[
 {"name": "set", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.http.set_filter_state.v3.Config",
   "on_request_headers": [{"object_key": "io.istio.peer_principal", "format_string": {"text_format_source": {"inline_string": "%DOWNSTREAM_PEER_URI_SAN%"}}}]}},
 {"name": "deny", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC", "rules": {"action": "DENY", "policies": {"ns[shop]-policy[deny]-rule[0]": {
   "permissions": [{"and_rules": {"rules": [{"or_rules": {"rules": [{"url_path": {"path": {"prefix": "/admin"}}}]}}, {"not_rule": {"or_rules": {"rules": [{"header": {"name": ":method", "string_match": {"exact": "GET"}}}]}}}]}}],
   "principals": [{"and_ids": {"ids": [{"any": true}]}}]}}}}},
 {"name": "allow", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC", "rules": {"policies": {"ns[shop]-policy[allow]-rule[0]": {
   "permissions": [{"and_rules": {"rules": [{"any": true}]}}],
   "principals": [{"and_ids": {"ids": [{"or_ids": {"ids": [{"filter_state": {"key": "io.istio.peer_principal", "string_match": {"safe_regex": {"regex": ".*/ns/web/.*"}}}}]}}]}}]}}}, "shadow_rules": {}}}]`
	consulFilters = `[
 {"name": "rbac", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC", "rules": {"action": "ALLOW", "policies": {"consul-intentions-layer7-0": {
   "permissions": [{"and_rules": {"rules": [{"url_path": {"path": {"exact": "/v1"}}}, {"header": {"name": "x-tier", "string_match": {"exact": "gold"}}}]}}],
   "principals": [{"and_ids": {"ids": [{"authenticated": {"principal_name": {"safe_regex": {"regex": "^spiffe://[^/]+/ns/default/dc/[^/]+/svc/.*$"}}}},
     {"not_id": {"authenticated": {"principal_name": {"safe_regex": {"regex": "^spiffe://td/ns/default/dc/[^/]+/svc/bad$"}}}}}]}}]}}}}}]`
	gatewayFilters = `[
 {"name": "authz", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC", "matcher": {
   "matcher_list": {"matchers": [{"predicate": {"and_matcher": {"predicate": [
     {"single_predicate": {"input": {"name": "h", "typed_config": {"@type": "type.googleapis.com/envoy.type.matcher.v3.HttpRequestHeaderMatchInput", "header_name": "x-tier"}}, "value_match": {"exact": "gold", "ignore_case": true}}},
     {"single_predicate": {"input": {"name": "ip", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.matching.common_inputs.network.v3.SourceIPInput"}}, "custom_match": {"name": "ip_matcher"}}}]}},
     "on_match": {"action": {"name": "rule", "typed_config": {"@type": "type.googleapis.com/envoy.config.rbac.v3.Action", "name": "allow-office"}}}}]},
   "on_no_match": {"action": {"name": "default", "typed_config": {"@type": "type.googleapis.com/envoy.config.rbac.v3.Action", "name": "default", "action": "DENY"}}}}}}]`
	jwtFilters = `[{"name": "jwt", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication"}},
 {"name": "rbac", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC", "rules": {"policies": {"a": {"permissions": [{"any": true}], "principals": [{"authenticated": {"principal_name": {"exact": "spiffe://td/a"}}}]}}}}}]`
	removingFilters = `[{"name": "h", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.http.header_to_metadata.v3.Config", "request_rules": [{"header": "x-tier", "on_header_present": {"key": "t"}, "remove": true}]}},
 {"name": "rbac", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC", "rules": {"policies": {"a": {"permissions": [{"header": {"name": "x-tier", "string_match": {"exact": "GOLD"}}}], "principals": [{"any": true}]}}}}}]`
)

func TestForms(t *testing.T) {
	gold := request.NewHeaders(request.Header{Name: "x-tier", Value: "GOLD"})
	for _, test := range []struct {
		name, filters string
		request       request.Request
		want          string
	}{
		{"Istio allows a namespace", istioFilters, request.Request{SpiffeID: "spiffe://td/ns/web/sa/a", Method: "GET", Path: "/admin"}, "ALLOW allow"},
		{"Istio denies a path first", istioFilters, request.Request{SpiffeID: "spiffe://td/ns/web/sa/a", Method: "POST", Path: "/admin?x"}, "DENY deny"},
		{"Istio denies the others", istioFilters, request.Request{SpiffeID: "spiffe://td/ns/other/sa/a", Method: "GET", Path: "/"}, "DENY allow"},
		{"Consul allows", consulFilters, request.Request{SpiffeID: "spiffe://td/ns/default/dc/dc1/svc/web", Method: "GET", Path: "/v1?a=b", Headers: request.NewHeaders(request.Header{Name: "X-Tier", Value: "gold"})}, "ALLOW rbac"},
		{"Consul takes a service out", consulFilters, request.Request{SpiffeID: "spiffe://td/ns/default/dc/dc1/svc/bad", Method: "GET", Path: "/v1", Headers: request.NewHeaders(request.Header{Name: "x-tier", Value: "gold"})}, "DENY rbac"},
		{"Consul wants the header", consulFilters, request.Request{SpiffeID: "spiffe://td/ns/default/dc/dc1/svc/web", Method: "GET", Path: "/v1"}, "DENY rbac"},
		{"Envoy Gateway by address is unknown", gatewayFilters, request.Request{Method: "GET", Path: "/", Headers: gold}, "UNKNOWN"},
		{"Envoy Gateway without the header", gatewayFilters, request.Request{Method: "GET", Path: "/"}, "DENY authz"},
		{"a header that header_to_metadata may remove", removingFilters, request.Request{Method: "GET", Path: "/", Headers: gold}, "UNKNOWN"},
		{"an ALLOW behind jwt_authn is unknown", jwtFilters, request.Request{SpiffeID: "spiffe://td/a", Method: "GET", Path: "/"}, "UNKNOWN"},
		{"a DENY behind jwt_authn stays", jwtFilters, request.Request{SpiffeID: "spiffe://td/b", Method: "GET", Path: "/"}, "DENY"},
	} {
		var list []dump.Object
		if err := json.Unmarshal([]byte(test.filters), &list); err != nil {
			t.Fatal(err)
		}
		chain := &dump.Chain{HTTP: true}
		for _, o := range list {
			f := dump.Filter{Name: o.Text("name"), HTTP: true}
			f.Type, f.Config = o.Object("typed_config").Typed()
			chain.Filters = append(chain.Filters, f)
		}
		filters := rbac.New(chain, rbac.Connection{TLS: true, NoTags: true, Port: 80})
		outcomes, err := access.Outcomes(&access.Space{Protocol: request.HTTP, NoTags: true, Queries: true}, filters.Chain, &test.request, access.Parts{}, access.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		got := outcomes[0].Decision.String()
		filter, _ := filters.By(outcomes[0])
		for _, o := range outcomes[1:] {
			if o.Allow != outcomes[0].Allow {
				got = "UNKNOWN"
			}
		}
		if got != "UNKNOWN" && len(outcomes) == 1 {
			got += " " + filter
		}
		if got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}
