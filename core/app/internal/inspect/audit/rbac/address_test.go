package rbac_test

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"testing"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/audit/dump"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/audit/rbac"
	"github.com/meshmatch/meshmatch/core/internal/access"
	"github.com/meshmatch/meshmatch/core/internal/request"
)

// Conditions on addresses and DNS names of clients are decided if a question is about one client,
// and unknown otherwise.
func TestClientOfConnection(t *testing.T) {
	const (
		office  = `{"address_prefix": "10.1.0.0", "prefix_len": 16}`
		matcher = `{"matcher_list": {"matchers": [{"predicate": {"single_predicate": {"input": {"typed_config": {"@type": "x/envoy.extensions.matching.common_inputs.%s"}}, %s}},
			"on_match": {"action": {"name": "a", "typed_config": {"@type": "x/envoy.config.rbac.v3.Action", "name": "a"}}}}]}}`
	)
	rules := func(principal string) string {
		return `{"rules": {"policies": {"a": {"permissions": [{"any": true}], "principals": [` + principal + `]}}}}`
	}
	by := func(input, match string) string { return `{"matcher": ` + fmt.Sprintf(matcher, input, match) + `}` }
	const ranges = `"custom_match": {"typed_config": {"@type": "x/envoy.extensions.matching.input_matchers.ip.v3.Ip", "cidr_ranges": [` + office + `]}}`
	for _, test := range []struct {
		name, filter, address, dns string
		forwarded                  bool
		want                       string
	}{
		{"no address", rules(`{"direct_remote_ip": ` + office + `}`), "", "", false, "UNKNOWN"},
		{"in the range", rules(`{"direct_remote_ip": ` + office + `}`), "10.1.2.3", "", false, "ALLOW"},
		{"in the range, as IPv6", rules(`{"source_ip": ` + office + `}`), "::ffff:10.1.2.3", "", false, "ALLOW"},
		{"in another range", rules(`{"direct_remote_ip": ` + office + `}`), "10.2.2.3", "", false, "DENY"},
		{"not in the range", rules(`{"not_id": {"direct_remote_ip": ` + office + `}}`), "10.2.2.3", "", false, "ALLOW"},
		{"IPv6", rules(`{"direct_remote_ip": {"address_prefix": "fd00::", "prefix_len": 8}}`), "fd12::1", "", false, "ALLOW"},
		{"a range without a length", rules(`{"direct_remote_ip": {"address_prefix": "10.1.0.0"}}`), "10.1.2.3", "", false, "UNKNOWN"},
		{"the remote address", rules(`{"remote_ip": ` + office + `}`), "10.1.2.3", "", false, "ALLOW"},
		{"a remote address that a header may give", rules(`{"remote_ip": ` + office + `}`), "10.1.2.3", "", true, "UNKNOWN"},
		{"the direct address beside the header", rules(`{"direct_remote_ip": ` + office + `}`), "10.1.2.3", "", true, "ALLOW"},
		{"ranges of a matcher", by("network.v3.SourceIPInput", ranges), "10.1.2.3", "", false, "ALLOW"},
		{"other ranges of a matcher", by("network.v3.SourceIPInput", ranges), "10.2.2.3", "", false, "DENY"},
		{"ranges of a matcher without an address", by("network.v3.SourceIPInput", ranges), "", "", false, "UNKNOWN"},
		{"the text of an address", by("network.v3.SourceIPInput", `"value_match": {"prefix": "10.1."}`), "10.1.2.3", "", false, "ALLOW"},
		{"a DNS name", rules(`{"authenticated": {"principal_name": {"exact": "web.example"}}}`), "", "web.example", false, "ALLOW"},
		{"another DNS name", rules(`{"authenticated": {"principal_name": {"exact": "web.example"}}}`), "", "other.example", false, "DENY"},
		{"no DNS name", rules(`{"authenticated": {"principal_name": {"suffix": ".example"}}}`), "", "", false, "DENY"},
		{"a DNS name of a matcher", by("ssl.v3.DnsSanInput", `"value_match": {"suffix": ".example"}`), "", "web.example", false, "ALLOW"},
		{"a matcher without a DNS name", by("ssl.v3.DnsSanInput", `"value_match": {"suffix": ".example"}`), "", "", false, "UNKNOWN"},
	} {
		f := dump.Filter{Name: "rbac", HTTP: true, Type: "envoy.extensions.filters.http.rbac.v3.RBAC"}
		if err := json.Unmarshal([]byte(test.filter), &f.Config); err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		connection := rbac.Connection{TLS: true, NoTags: true, Port: 80, Forwarded: test.forwarded, DNSName: test.dns}
		if test.address != "" {
			connection.Address = netip.MustParseAddr(test.address)
		}
		filters := rbac.New(&dump.Chain{HTTP: true, Filters: []dump.Filter{f}}, connection)
		outcomes, err := access.Outcomes(&access.Space{Protocol: request.HTTP, NoTags: true, Queries: true}, filters.Chain, &request.Request{Method: "GET", Path: "/"}, access.Parts{}, access.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		got := outcomes[0].Decision.String()
		for _, o := range outcomes[1:] {
			if o.Allow != outcomes[0].Allow {
				got = "UNKNOWN"
			}
		}
		if got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}
