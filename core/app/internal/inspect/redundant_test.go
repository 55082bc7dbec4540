package inspect_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/check"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// TestRedundantAndConflicting lists the warnings about redundant or contradictory parts
// by code and path, without other warnings.
func TestRedundantAndConflicting(t *testing.T) {
	const (
		web     = "{type: Dataplane, name: web, labels: {app: web}, networking: {address: 10.0.0.1, inbound: [{port: 80, protocol: http, tags: {kuma.io/service: web}}], outbound: [{port: 1, tags: {kuma.io/service: db}}, {port: 2, tags: {kuma.io/service: api}}]}}\n---\n"
		web2    = "{type: Dataplane, name: web-2, networking: {address: 10.0.0.2, inbound: [{port: 80, protocol: http, tags: {kuma.io/service: web}}]}}\n---\n"
		tcp     = "{type: Dataplane, name: web-3, networking: {address: 10.0.0.3, inbound: [{port: 80, tags: {kuma.io/service: web}}]}}\n---\n"
		ids     = "{type: MeshIdentity, name: i, spec: {selector: {dataplane: {matchLabels: {app: web}}}, spiffeID: {trustDomain: td, path: /sa/web}, provider: {type: Spire}}}\n---\n"
		foreign = "{type: MeshTrust, name: t, spec: {trustDomain: partner, caBundles: [{type: Pem, pem: {value: %q}}]}}\n---\n"
	)
	permit := func(name, target, rule string) string {
		return fmt.Sprintf("{type: MeshTrafficPermission, name: %s, spec: {targetRef: %s, rules: [{default: %s}]}}\n---\n", name, target, rule)
	}
	timeout := func(name, spec string) string {
		return fmt.Sprintf("{type: MeshTimeout, name: %s, spec: %s}\n---\n", name, spec)
	}
	const mesh, onlyWeb = "{kind: Mesh}", "{kind: Dataplane, name: web}"
	for name, c := range map[string]struct{ input, want string }{
		"an entry below another one": {
			web + permit("a", mesh, "{allow: [{method: GET, path: {type: Exact, value: /a}}, {method: GET}]}"),
			"MM3002 a spec.rules[0].default.allow[0]"},
		"of two equal entries the first is not needed, and the second never decides": {
			web + permit("a", mesh, "{allow: [{method: GET}, {method: GET}]}"),
			"MM3002 a spec.rules[0].default.allow[0], MM3001 a spec.rules[0].default.allow[1]"},
		"two denials that together cover an allowance": {
			web + permit("a", mesh, "{deny: [{headers: [{type: Present, name: x-a}]}, {headers: [{type: Absent, name: x-a}]}], allow: [{method: GET}]}"),
			"MM3001 a spec.rules[0].default.allow[0]"},
		"a denial of what nothing allows": {
			web + permit("a", mesh, "{deny: [{method: POST}], allow: [{method: GET}]}"),
			"MM3002 a spec.rules[0].default.deny[0]"},
		"a denial that is needed on one inbound": {
			web + web2 + permit("a", mesh, "{deny: [{method: POST}], allow: [{method: GET}]}") + permit("b", onlyWeb, "{allow: [{path: {type: Prefix, value: /x}}]}"),
			"MM4005 web-2 networking.inbound[0], MM4006 b spec.rules[0].default.allow[0]"},
		"an entry that is needed for the shadow decision": {
			web + permit("a", mesh, "{allowWithShadowDeny: [{method: GET, path: {type: Exact, value: /a}}], allow: [{method: GET}]}"),
			""},
		"another policy denies a part": {
			web + permit("a", mesh, "{deny: [{method: POST}]}") + permit("b", mesh, "{allow: [{path: {type: Prefix, value: /x}}]}"),
			"MM4006 b spec.rules[0].default.allow[0]"},
		"the same policy denies a part": {
			web + permit("a", mesh, "{deny: [{method: POST}], allow: [{path: {type: Prefix, value: /x}}]}"),
			""},
		"another policy denies other clients": {
			web + permit("a", mesh, "{deny: [{spiffeId: {type: Exact, value: spiffe://td/x}}], allow: [{spiffeId: {type: Prefix, value: spiffe://td/}}]}") +
				permit("b", mesh, "{allow: [{spiffeId: {type: Exact, value: spiffe://other/y}}]}"),
			""},
		"inbounds of a service differ": {
			web + web2 + permit("a", onlyWeb, "{allow: [{method: GET}]}"),
			"MM4005 web-2 networking.inbound[0]"},
		"inbounds with equal permissions by other policies": {
			web + web2 + permit("a", onlyWeb, "{allow: [{method: GET}]}") + permit("b", "{kind: Dataplane, name: web-2}", "{allow: [{method: GET}]}"),
			""},
		"inbounds of other protocols": {
			web + tcp + permit("a", onlyWeb, "{allow: [{spiffeId: {type: Exact, value: spiffe://td/x}}]}"),
			""},
		"an identity that no dataplane has": {
			web + ids + permit("a", mesh, "{allow: [{spiffeId: {type: Exact, value: spiffe://td/sa/wep}}, {spiffeId: {type: Exact, value: spiffe://td/sa/web}}, {spiffeId: {type: Prefix, value: spiffe://tb/sa}}]}"),
			"MM2026 a spec.rules[0].default.allow[0].spiffeId, MM2026 a spec.rules[0].default.allow[2].spiffeId"},
		"a prefix of an identity": {
			web + ids + permit("a", mesh, "{allow: [{spiffeId: {type: Prefix, value: spiffe://td/sa}}]}"),
			""},
		"identities are issued elsewhere": {
			web + permit("a", mesh, "{allow: [{spiffeId: {type: Exact, value: spiffe://td/sa/wep}}]}"),
			""},
		"a trust domain of others": {
			web + ids + fmt.Sprintf(foreign, caBundle) + permit("a", mesh, "{allow: [{spiffeId: {type: Exact, value: spiffe://partner/sa/x}}, {spiffeId: {type: Exact, value: spiffe://td/sa/web}}]}"),
			""},
		"an item equals what it overrides": {
			web + timeout("a", "{to: [{default: {idleTimeout: 1h, connectionTimeout: 5s}}]}") + timeout("b", "{to: [{targetRef: {kind: MeshService, name: db}, default: {idleTimeout: 1h}}]}"),
			"MM3003 b spec.to[0]"},
		"an item equals it on one outbound only": {
			web + timeout("a", "{to: [{default: {idleTimeout: 1h}}]}") + timeout("b", "{to: [{targetRef: {kind: MeshService, name: db}, default: {idleTimeout: 2h}}]}") + timeout("c", "{to: [{default: {idleTimeout: 2h}}]}"),
			"MM3004 a spec.to[0], MM3004 b spec.to[0]"},
		"an item sets one field more": {
			web + timeout("a", "{to: [{default: {idleTimeout: 1h}}]}") + timeout("b", "{to: [{targetRef: {kind: MeshService, name: db}, default: {idleTimeout: 1h, connectionTimeout: 5s}}]}"),
			""},
		"a default equals what it overrides": {
			web + "{type: MeshTrace, name: a, spec: {default: {sampling: {overall: 10}}}}\n---\n{type: MeshTrace, name: b, spec: {targetRef: {kind: MeshService, name: web}, default: {sampling: {overall: 10}}}}",
			"MM3004 a spec.default, MM3003 b spec.default"},
		"a rule equals what it overrides": {
			web + timeout("a", "{rules: [{default: {idleTimeout: 1h}}]}") + timeout("b", "{rules: [{default: {idleTimeout: 1h}}]}"),
			"MM3004 a spec.rules[0], MM3003 b spec.rules[0]"},
		"a rule that gives its place to others": {
			web + timeout("a", "{rules: [{default: {http: {requestTimeout: 1h}}}]}") + timeout("b", "{rules: [{default: {http: {requestTimeout: 1h}}}, {matches: [{method: GET}], default: {http: {requestTimeout: 2h}}}]}"),
			"MM3004 a spec.rules[0]"},
		"an item without fields": {
			web + "{type: MeshTrace, name: a, spec: {default: {}}}",
			"MM2004 a spec.default"},
		"a policy is overridden everywhere": {
			web + timeout("a", "{from: [{default: {idleTimeout: 1h}}]}") + timeout("b", "{from: [{default: {idleTimeout: 2h}}]}"),
			"MM3004 a spec.from[0]"},
		"one item of a policy is overridden": {
			web + timeout("a", "{to: [{default: {idleTimeout: 1h}}, {targetRef: {kind: MeshService, name: db}, default: {connectionTimeout: 5s}}]}") + timeout("b", "{to: [{default: {idleTimeout: 2h}}]}"),
			"MM2004 a spec.to[0]"},
		"no outbound is of the service": {
			web + timeout("a", "{to: [{targetRef: {kind: MeshService, name: absent}, default: {idleTimeout: 1h}}]}"),
			"MM2004 a spec.to[0]"},
	} {
		all := kinds.All()
		loader := resource.Loader{Kinds: all}
		set, err := loader.Decode(t.Context(), resource.Input{Name: "f", Data: []byte(c.input)})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		view, err := core.Options{Semantics: core.TargetRef}.NewView(t.Context(), all, set)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, w := range check.New(view, set).Warnings {
			switch w.Code {
			case diag.NeverDecides, diag.NeverNeeded, diag.EqualsOverridden, diag.OverriddenEverywhere, diag.SetsNothing,
				diag.PartlyShadowed, diag.InboundsDiffer, diag.UnknownIdentity:
				got = append(got, w.Code.String()+" "+nameAt(set, w.Pos.Line)+" "+w.Path)
			}
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s: got %q, want %q", name, text, c.want)
		}
	}
}

// nameAt returns the name of the resource in a line.
func nameAt(set *resource.Set, line int) string {
	for _, d := range set.Dataplanes {
		if d.Pos.Line == line {
			return d.Name
		}
	}
	for _, p := range set.Policies {
		if p.Pos.Line == line {
			return p.Name
		}
	}
	return ""
}

// caBundle is a CA certificate.
const caBundle = `-----BEGIN CERTIFICATE-----
MIIBdjCCARugAwIBAgIUHdGSXyUq7fuFlXA7EuOTPrYvcSQwCgYIKoZIzj0EAwIw
DzENMAsGA1UEAwwEdGVzdDAgFw0yNjExMjIwMTQwMjRaGA8yMTI2MTAyOTAxNDAy
NFowDzENMAsGA1UEAwwEdGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABB6+
TuJI0bgs2UhyGr9oL8NCNCINFpgo2iDuFyIemG12ikAoGfUa12y0KjQNNoUJyEd2
E8k9xsSXAKm18UoXOCyjUzBRMB0GA1UdDgQWBBTYK4buwydQQXZqyGv9lT9ID7P7
mjAfBgNVHSMEGDAWgBTYK4buwydQQXZqyGv9lT9ID7P7mjAPBgNVHRMBAf8EBTAD
AQH/MAoGCCqGSM49BAMCA0kAMEYCIQC91lN3CV18G00vCqmxxv98cz4HbvkSE+F3
66+J1NClNAIhAP9klXERDnI/4WA6xXfFLIqTtdIXL8l6G/iqlV5GMMbm
-----END CERTIFICATE-----
`
