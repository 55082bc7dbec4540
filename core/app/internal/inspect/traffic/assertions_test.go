package traffic_test

import (
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/traffic"
	"github.com/meshmatch/meshmatch/core/internal/coretest"
	"github.com/meshmatch/meshmatch/core/resource"
)

// resultOf runs a test with one assertion.
func resultOf(t *testing.T, documents, assertion string) traffic.TestResult {
	t.Helper()
	view := coretest.View(t, documents+"---\n{type: AccessTest, name: t, "+assertion+"}\n")
	results := traffic.RunTests(view, "default", func(name string) (*resource.Kind, error) { return find.Kind(view.Kinds(), name) }, inspect.Options{})
	if len(results.Tests) != 1 {
		t.Fatalf("%d results", len(results.Tests))
	}
	return results.Tests[0]
}

// A case is one request: what it leaves out is absent (SPEC 13.3).
func TestCases(t *testing.T) {
	const rules = `{deny: [{path: {type: Prefix, value: /admin}}], allow: [
  {spiffeId: {type: Exact, value: spiffe://td/web}}, {method: GET, headers: [{name: x-team, value: shop}]}]}`
	for _, c := range []struct{ rule, assertion, result, why string }{
		{"a SPIFFE ID", "from: {spiffeId: spiffe://td/web}, to: {service: web}, request: {method: POST, path: /a}, expect: ALLOW", "pass", ""},
		{"a dataplane has its SPIFFE ID", "from: {dataplane: web}, to: {service: web}, request: {method: POST, path: /a}, expect: ALLOW", "pass", ""},
		{"a client without a SPIFFE ID", "to: {service: web}, request: {method: POST, path: /a}, expect: DENY", "pass", ""},
		{"headers", "to: {service: web}, request: {method: GET, path: /a, headers: {X-Team: shop}}, expect: ALLOW", "pass", ""},
		{"an absent header", "to: {service: web}, request: {method: GET, path: /a}, expect: DENY", "pass", ""},
		{"a path in the form of the client", "from: {dataplane: web}, to: {service: web}, request: {method: GET, path: /x/../admin}, expect: DENY", "pass", ""},
		{"tags, which a certificate of Bundled lacks", "from: {tags: {kuma.io/service: web}}, to: {service: web}, request: {method: POST, path: /a}, expect: DENY", "pass", ""},
		{"another decision", "from: {dataplane: web}, to: {service: web}, request: {method: GET, path: /admin}, expect: ALLOW", "fail", "the decision is DENY"},
		{"an inbound by its name", "from: {dataplane: web}, to: {dataplane: web, inbound: http}, request: {path: /a}, expect: ALLOW", "pass", ""},
		{"an inbound by its number", "from: {dataplane: web}, to: {dataplane: web, inbound: '80'}, request: {path: /a}, expect: ALLOW", "pass", ""},
		{"an inbound that does not exist", "from: {dataplane: web}, to: {dataplane: web, inbound: grpc}, expect: DENY", "fail", `dataplane "web" has no inbound "grpc"`},
		{"a service by its prefix", "from: {dataplane: web}, to: {dataplane: svc/web}, request: {path: /a}, expect: ALLOW", "pass", ""},
		{"dataplanes by a selector", "from: {dataplane: web}, to: {dataplane: kuma.io/service=web}, request: {path: /a}, expect: ALLOW", "pass", ""},
		{"a client that does not exist", "from: {dataplane: missing}, to: {service: web}, expect: DENY", "fail", `"missing"`},
	} {
		t.Run(c.rule, func(t *testing.T) {
			r := resultOf(t, withPermission(rules), "cases: [{name: a, "+c.assertion+"}]")
			if string(r.Result) != c.result || !strings.Contains(r.Why, c.why) {
				t.Errorf("got %s: %s; want %s: %s", r.Result, r.Why, c.result, c.why)
			}
		})
	}
}

// The clients and the requests that `always` is about: what is left out can be anything (SPEC
// 13.3).
func TestAlways(t *testing.T) {
	const rules = `{deny: [{path: {type: Prefix, value: /admin}}], allow: [{spiffeId: {type: Prefix, value: spiffe://td/web}}]}`
	for _, c := range []struct{ rule, assertion, result string }{
		{"every request", "from: {spiffeId: spiffe://td/web}, to: {service: web}, expect: ALLOW", "fail"},
		{"a prefix of the path", "from: {spiffeId: spiffe://td/web}, to: {service: web}, request: {pathPrefix: /shop}, expect: ALLOW", "pass"},
		{"a prefix is by segment", "from: {spiffeId: spiffe://td/web}, to: {service: web}, request: {pathPrefix: /administration}, expect: ALLOW", "pass"},
		{"a path", "to: {service: web}, request: {path: /admin/x}, expect: DENY", "pass"},
		{"every client", "to: {service: web}, request: {pathPrefix: /shop}, expect: DENY", "fail"},
		{"a prefix of SPIFFE IDs", "from: {spiffeIdPrefix: spiffe://td/web}, to: {service: web}, request: {pathPrefix: /shop}, expect: ALLOW", "pass"},
		{"a prefix of SPIFFE IDs is by segment", "from: {spiffeIdPrefix: spiffe://td/we}, to: {service: web}, expect: DENY", "pass"},
		{"a dataplane", "from: {dataplane: web}, to: {service: web}, request: {pathPrefix: /shop}, expect: ALLOW", "pass"},
		{"the dataplanes of a service", "from: {service: api}, to: {service: web}, expect: DENY", "pass"},
		{"not includes clients without a SPIFFE ID", "from: {not: {spiffeIdPrefix: spiffe://td/web}}, to: {service: web}, expect: DENY", "pass"},
		{"any of several", "from: {anyOf: [{service: api}, {dataplane: web}]}, to: {service: web}, expect: DENY", "fail"},
		{"a service without dataplanes", "from: {service: gone}, to: {service: web}, expect: DENY", "fail"},
		{"all inbounds decide as expected", "from: {dataplane: web}, to: {dataplane: kuma.io/service=*}, request: {pathPrefix: /shop}, expect: ALLOW", "fail"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			r := resultOf(t, withPermission(rules), "always: [{name: a, "+c.assertion+"}]")
			if string(r.Result) != c.result {
				t.Errorf("got %s: %s (%v); want %s", r.Result, r.Why, r.Counterexample, c.result)
			}
		})
	}
}

// The conf of a dataplane, of an outbound or of an inbound. Durations and numbers are compared by
// value (SPEC 13.3).
func TestConfs(t *testing.T) {
	documents := strings.Replace(workloads, "tags: {kuma.io/service: web}}]", "tags: {kuma.io/service: web}}], outbound: [{port: 1000, tags: {kuma.io/service: api}}]", 1) + `---
{type: MeshTimeout, name: to, spec: {to: [{default: {connectionTimeout: 60s, http: {requestTimeout: 2s}}}]}}
---
{type: MeshTimeout, name: rules, spec: {rules: [{default: {idleTimeout: 5s}}]}}
---
{type: MeshCircuitBreaker, name: to, spec: {to: [{default: {connectionLimits: {maxRequests: 10}}}]}}
---
{type: MeshFaultInjection, name: faults, spec: {rules: [{matches: [{spiffeId: {type: Exact, value: spiffe://td/api}}], default: {http: [{abort: {httpStatus: 503, percentage: 50}}]}}]}}
`
	const timeout = "dataplane: web, kind: MeshTimeout, outbound: api, field: /connectionTimeout"
	for _, c := range []struct{ rule, assertion, result, why string }{
		{"equal durations", timeout + ", expect: {equals: 1m}", "pass", ""},
		{"another duration", timeout + ", expect: {equals: 61s}", "fail", "/connectionTimeout is 1m, and not 61s"},
		{"a lower bound", timeout + ", expect: {atLeast: 60s}", "pass", ""},
		{"less than the bound", timeout + ", expect: {atLeast: 2m}", "fail", "which is less than 2m"},
		{"an upper bound", timeout + ", expect: {atMost: 60s}", "pass", ""},
		{"more than the bound", timeout + ", expect: {atMost: 9s}", "fail", "which is more than 9s"},
		{"a number", "dataplane: web, kind: MeshCircuitBreaker, outbound: api, field: /connectionLimits/maxRequests, expect: {atLeast: 9, atMost: 10.0}", "pass", ""},
		{"a duration is no number", timeout + ", expect: {atLeast: 3}", "fail", "neither a duration nor a number"},
		{"a field that is set", timeout + ", expect: {set: true}", "pass", ""},
		{"a field that must not be set", timeout + ", expect: {set: false}", "fail", "/connectionTimeout is 1m"},
		{"a field that is not set", "dataplane: web, kind: MeshTimeout, outbound: api, field: /idleTimeout, expect: {set: false}", "pass", ""},
		{"no bound holds for nothing", "dataplane: web, kind: MeshTimeout, outbound: api, field: /idleTimeout, expect: {atMost: 9s}", "fail", "/idleTimeout is not set"},
		{"an inbound", "dataplane: web, kind: MeshTimeout, inbound: http, field: /idleTimeout, expect: {equals: 5s}", "pass", ""},
		{"the rule for a client", "dataplane: web, kind: MeshFaultInjection, inbound: http, match: {spiffeId: spiffe://td/api}, field: /http/0/abort/httpStatus, expect: {equals: 503}", "pass", ""},
		{"no rule for another client", "dataplane: web, kind: MeshFaultInjection, inbound: http, match: {spiffeId: spiffe://td/web}, field: /http, expect: {set: false}", "pass", ""},
		{"each dataplane that is meant", "dataplane: kuma.io/service=*, kind: MeshTimeout, inbound: '80', field: /idleTimeout, expect: {equals: 5s}", "fail", "api: "},
		{"an unknown kind", "dataplane: web, kind: MeshPatience, field: /a, expect: {set: true}", "fail", "MeshPatience"},
		{"an unknown dataplane", "dataplane: missing, kind: MeshTimeout, field: /a, expect: {set: true}", "fail", "missing"},
		{"an unknown outbound", "dataplane: web, kind: MeshTimeout, outbound: gone, field: /a, expect: {set: false}", "fail", "gone"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			r := resultOf(t, documents, "confs: [{name: a, "+c.assertion+"}]")
			if string(r.Result) != c.result || !strings.Contains(r.Why, c.why) {
				t.Errorf("got %s: %s; want %s: %s", r.Result, r.Why, c.result, c.why)
			}
		})
	}
}
