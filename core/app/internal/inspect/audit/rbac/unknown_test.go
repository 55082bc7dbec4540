package rbac_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/audit/dump"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/audit/rbac"
	"github.com/meshmatch/meshmatch/core/internal/access"
	"github.com/meshmatch/meshmatch/core/internal/request"
)

// A condition that a dump does not show, or that is not known, makes the answer unknown and is
// named: neither a filter that allows by it nor one that denies by it is equal to another.
func TestUnknownConditionsAreNamed(t *testing.T) {
	const matcher = `{"matcher": {"matcher_list": {"matchers": [{"predicate": {"single_predicate": {"input": {"name": "i", "typed_config": {"@type": "x/%s"}}, "value_match": {"exact": "a"}}}, "on_match": {"action": {"name": "a", "typed_config": {"@type": "x/envoy.config.rbac.v3.Action", "name": "a"}}}}]}}}`
	permission := func(p string) string {
		return `{"rules": {"policies": {"a": {"permissions": [` + p + `], "principals": [{"any": true}]}}}}`
	}
	principal := func(p string) string {
		return `{"rules": {"policies": {"a": {"permissions": [{"any": true}], "principals": [` + p + `]}}}}`
	}
	for _, c := range []struct{ config, want string }{
		{permission(`{"header": {"name": "x-n", "range_match": {"start": 1, "end": 10}}}`), "a range of a header"},
		{permission(`{"header": {"name": "x-n", "range_match": {"start": 1, "end": 10}, "invert_match": true}}`), "a range of a header"},
		{permission(`{"not_rule": {"header": {"name": "x-n", "range_match": {"start": 1, "end": 10}}}}`), "a range of a header"},
		{permission(`{"header": {"name": "x-n", "new_match": {}}}`), "new_match"},
		{permission(`{"header": {"name": "x-envoy-peer", "present_match": true}}`), "which Envoy sets"},
		{permission(`{"destination_ip": {"address_prefix": "10.0.0.0", "prefix_len": 8}}`), "destination_ip"},
		{permission(`{"destination_port": 8080}`), "the port of the destination"},
		{permission(`{"destination_port_range": {"start": 1, "end": 2}}`), "the port of the destination"},
		{permission(`{"metadata": {"filter": "envoy.filters.http.jwt_authn", "path": [{"key": "iss"}], "value": {"string_match": {"exact": "a"}}}}`), "metadata"},
		{permission(`{"sourced_metadata": {"metadata_matcher": {"filter": "a"}}}`), "sourced_metadata"},
		{permission(`{"matcher": {"name": "upstream", "typed_config": {"@type": "x/envoy.extensions.rbac.matchers.upstream_ip_port.v3.UpstreamIpPortMatcher"}}}`), "UpstreamIpPortMatcher"},
		{permission(`{"uri_template": {"name": "t", "typed_config": {"@type": "x/envoy.extensions.path.match.uri_template.v3.UriTemplateMatchConfig"}}}`), "uri_template"},
		{permission(`{"url_path": {"path": {"custom": {"name": "lua"}}}}`), "custom"},
		{principal(`{"metadata": {"filter": "istio_authn"}}`), "metadata"},
		{principal(`{"sourced_metadata": {"metadata_matcher": {"filter": "a"}}}`), "sourced_metadata"},
		{principal(`{"filter_state": {"key": "who", "string_match": {"exact": "a"}}}`), "a filter state"},
		{principal(`{"direct_remote_ip": {"address_prefix": "10.0.0.0", "prefix_len": 8}}`), "the address of the client"},
		{principal(`{"remote_ip": {"address_prefix": "10.0.0.0", "prefix_len": 8}}`), "the address of the client"},
		{principal(`{"source_ip": {"address_prefix": "10.0.0.0", "prefix_len": 8}}`), "the address of the client"},
		{principal(`{"custom": {"name": "mtls", "typed_config": {"@type": "x/envoy.extensions.rbac.principals.mtls_authenticated.v3.Config"}}}`), "mtls_authenticated"},
		{principal(`{"authenticated": {"principal_name": {"exact": "spiffe://td/a"}, "san_type": "URI"}}`), "san_type"},
		{principal(`{"any": true, "beside": true}`), "beside"},
		{`{"rules": {"policies": {"a": {"permissions": [{"any": true}], "principals": [{"any": true}], "condition": {"ident_expr": {"name": "x"}}}}}}`, "the CEL condition"},
		{`{"rules": {"policies": {"a": {"permissions": [{"any": true}], "principals": [{"any": true}], "new": {}}}}}`, "the field new"},
		{`{"rules": {"action": "ASK"}}`, "an action or a field of the rules"},
		{`{"rules": {}, "new": 1}`, "the field new"},
		{strings.Replace(matcher, "%s", "envoy.extensions.matching.common_inputs.network.v3.DestinationIPInput", 1), "DestinationIPInput"},
		{strings.Replace(matcher, "%s", "envoy.extensions.matching.common_inputs.network.v3.DestinationPortInput", 1), "DestinationPortInput"},
		{strings.Replace(matcher, "%s", "envoy.extensions.matching.common_inputs.network.v3.DynamicMetadataInput", 1), "DynamicMetadataInput"},
		{strings.Replace(matcher, "%s", "xds.type.matcher.v3.HttpAttributesCelMatchInput", 1), "HttpAttributesCelMatchInput"},
	} {
		f := dump.Filter{Name: "rbac", HTTP: true, Type: "envoy.extensions.filters.http.rbac.v3.RBAC"}
		if err := json.Unmarshal([]byte(c.config), &f.Config); err != nil {
			t.Fatalf("%s: %v", c.config, err)
		}
		filters := rbac.New(&dump.Chain{HTTP: true, Filters: []dump.Filter{f}}, rbac.Connection{TLS: true, NoTags: true})
		space := &access.Space{Protocol: request.HTTP, NoTags: true, Queries: true}
		for _, open := range []bool{true, false} {
			found, err := access.CompareChain(space, &access.List{Open: open}, filters.Chain, access.Limits{})
			if err != nil {
				t.Fatalf("%s: %v", c.config, err)
			}
			certain := true // the filter always decides as the policies, or never
			for _, d := range found {
				if len(d.Unknown) > 0 {
					certain = false
				}
				if text := strings.Join(d.Unknown, "\n"); len(d.Unknown) > 0 && !strings.Contains(text, c.want) {
					t.Errorf("%s: unknown because of %q, want %q", c.config, text, c.want)
				}
			}
			if certain {
				t.Errorf("%s: %d differences are certain", c.config, len(found))
			}
		}
	}
}
