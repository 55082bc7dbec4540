package naive

import (
	"testing"
)

const served = `
type: Dataplane
mesh: m
name: backend
labels: {app: backend}
networking:
  address: 10.0.0.1
  inbound:
    - {name: http-port, port: 80, protocol: http, tags: {kuma.io/service: backend}}
    - {name: tcp-port, port: 81, tags: {kuma.io/service: backend-sql}}
`

// The two policies of Option 1 in 002.
const permissions002 = served + `
---
type: MeshTrafficPermission
mesh: m
name: by-mesh-operator
spec:
  default:
    deny: [{spiffeId: {type: Exact, value: "spiffe://trust-domain.mesh/ns/default/sa/frontend"}}]
---
type: MeshTrafficPermission
mesh: m
name: by-service-owner
spec:
  targetRef: {kind: Dataplane, labels: {app: backend}, sectionName: http-port}
  default:
    deny: [{spiffeId: {type: Exact, value: "spiffe://trust-domain.mesh/ns/default/sa/api-gateway"}}]
    allowWithShadowDeny: [{spiffeId: {type: Prefix, value: "spiffe://trust-domain.mesh/ns/legacy"}}]
    allow: [{spiffeId: {type: Prefix, value: "spiffe://trust-domain.mesh/"}}]
`

func access(t *testing.T, policies, inbound string, r Request) map[string]any {
	t.Helper()
	answer, err := Access(testKinds(), load(t, policies), "m", "", "backend", inbound, r, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func TestAccessByRules(t *testing.T) {
	const operator, owner = `"kri": "kri_mtp_m___by-mesh-operator_", "rule": 0`, `"kri": "kri_mtp_m___by-service-owner_", "rule": 0`
	tests := []struct{ name, client, inbound, want string }{
		{"denied by the operator", "spiffe://trust-domain.mesh/ns/default/sa/frontend", "http-port", `{
			"decision": "DENY", "by": {` + operator + `, "list": "deny", "index": 0},
			"shadow": {"decision": "DENY", "by": {` + operator + `, "list": "deny", "index": 0}}, "warnings": []}`},
		{"denied by the owner", "spiffe://trust-domain.mesh/ns/default/sa/api-gateway", "http-port", `{
			"decision": "DENY", "by": {` + owner + `, "list": "deny", "index": 0},
			"shadow": {"decision": "DENY", "by": {` + owner + `, "list": "deny", "index": 0}}, "warnings": []}`},
		{"allowed, the shadow denies", "spiffe://trust-domain.mesh/ns/legacy/sa/x", "http-port", `{
			"decision": "ALLOW", "by": {` + owner + `, "list": "allow", "index": 0},
			"shadow": {"decision": "DENY", "by": {` + owner + `, "list": "allowWithShadowDeny", "index": 0}}, "warnings": []}`},
		{"a prefix ends at a segment", "spiffe://trust-domain.mesh/ns/legacy-2", "http-port", `{
			"decision": "ALLOW", "by": {` + owner + `, "list": "allow", "index": 0},
			"shadow": {"decision": "ALLOW", "by": {` + owner + `, "list": "allow", "index": 0}}, "warnings": []}`},
		{"an identity that no entry matches", "spiffe://other/", "http-port", `{
			"decision": "DENY", "by": {"default": true}, "shadow": {"decision": "DENY", "by": {"default": true}}, "warnings": []}`},
		{"the other inbound", "spiffe://trust-domain.mesh/ns/legacy", "tcp-port", `{"decision": "DENY", "by": {"default": true}, "warnings": []}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			expect(t, access(t, permissions002, test.inbound, Request{SpiffeID: test.client}), test.want)
		})
	}
}

// SPEC 7.3: no order of policies and levels lets an allow override a deny, and within a
// rule allow is reported before allowWithShadowDeny.
func TestDenyWins(t *testing.T) {
	answer := access(t, served+`
---
type: MeshTrafficPermission
mesh: m
name: a
spec: {default: {deny: [{method: GET}]}}
---
type: MeshTrafficPermission
mesh: m
name: z
spec:
  targetRef: {kind: MeshService, name: backend}
  rules:
    - default: {allowWithShadowDeny: [{method: PUT}], allow: [{method: GET}, {method: PUT}]}
`, "http-port", Request{Method: "GET"})
	expect(t, answer["by"], `{"kri": "kri_mtp_m___a_", "rule": 0, "list": "deny", "index": 0}`)
}

func TestNoPolicyDenies(t *testing.T) {
	expect(t, access(t, served, "http-port", Request{}), `{"decision": "DENY", "by": {"default": true}, "warnings": []}`)
}

// SPEC 7.5: a condition that an inbound cannot evaluate never opens it.
func TestTCPInbound(t *testing.T) {
	const id = `spiffeId: {type: Exact, value: "spiffe://td/a"}`
	tests := []struct{ name, rule, want string }{
		{"an allow never matches", `allow: [{method: GET}]`, `"DENY"`},
		{"nor with conditions that it can see", `allow: [{method: GET, ` + id + `}]`, `"DENY"`},
		{"an allow that it can see does", `allow: [{` + id + `}]`, `"ALLOW"`},
		{"a deny is enforced on the rest", `deny: [{method: PUT, ` + id + `}], allow: [{` + id + `}]`, `"DENY"`},
		{"on every client when nothing is left", `deny: [{headers: [{name: a, type: Present}]}], allow: [{` + id + `}]`, `"DENY"`},
		{"on no other client", `deny: [{method: PUT, sni: other}], allow: [{` + id + `}]`, `"ALLOW"`},
		{"a shadow deny never matches", `allowWithShadowDeny: [{path: {type: Prefix, value: /}, ` + id + `}]`, `"DENY"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			policies := served + "\n---\n{type: MeshTrafficPermission, mesh: m, name: p, spec: {default: {" + test.rule + "}}}"
			answer := access(t, policies, "tcp-port", Request{SpiffeID: "spiffe://td/a", Method: "GET", Path: "/"})
			expect(t, answer["decision"], test.want)
			warnings := 1
			if test.name == "an allow that it can see does" {
				warnings = 0
			}
			if got := len(answer["warnings"].([]any)); got != warnings {
				t.Errorf("there are %d warnings, not %d", got, warnings)
			}
		})
	}
	t.Run("a shadow deny never matches in the shadow decision", func(t *testing.T) {
		policies := served + "\n---\n{type: MeshTrafficPermission, mesh: m, name: p, spec: {default: {allowWithShadowDeny: [{method: GET}], allow: [{" + id + "}]}}}"
		answer := access(t, policies, "tcp-port", Request{SpiffeID: "spiffe://td/a", Method: "GET"})
		expect(t, answer["shadow"], `{"decision": "ALLOW", "by": {"kri": "kri_mtp_m___p_", "rule": 0, "list": "allow", "index": 0}}`)
	})
}

// SPEC 5.7: "Mesh Allow; a Deny; b Deny" allows every client except a and b.
func TestAccessByFrom(t *testing.T) {
	const from = served + `
---
type: MeshTrafficPermission
mesh: m
name: p
spec:
  from:
    - default: {action: Allow}
    - {targetRef: {kind: MeshService, name: a}, default: {action: Deny}}
    - {targetRef: {kind: MeshService, name: b}, default: {action: DENY}}
`
	for service, want := range map[string]string{
		"a": `{"decision": "DENY", "by": {"kri": "kri_mtp_m___p_", "index": 1}, "warnings": []}`,
		"b": `{"decision": "DENY", "by": {"kri": "kri_mtp_m___p_", "index": 2}, "warnings": []}`,
		"c": `{"decision": "ALLOW", "by": {"kri": "kri_mtp_m___p_", "index": 0}, "warnings": []}`,
	} {
		expect(t, access(t, from, "tcp-port", Request{Tags: map[string]string{"kuma.io/service": service}}), want)
	}
	t.Run("with a shadow deny", func(t *testing.T) {
		expect(t, access(t, from+"    - {targetRef: {kind: MeshService, name: d}, default: {action: allowWithShadowDeny}}\n    - default: {}",
			"tcp-port", Request{Tags: map[string]string{"kuma.io/service": "d"}}), `{
			"decision": "ALLOW", "by": {"kri": "kri_mtp_m___p_", "index": 3},
			"shadow": {"decision": "DENY", "by": {"kri": "kri_mtp_m___p_", "index": 3}}, "warnings": []}`)
	})
	t.Run("rules count instead, with a warning", func(t *testing.T) {
		answer := access(t, from+`
---
type: MeshTrafficPermission
mesh: m
name: r
spec: {default: {allow: [{sni: a}]}}
`, "tcp-port", Request{SNI: "b"})
		expect(t, answer["decision"], `"DENY"`)
		if got := len(answer["warnings"].([]any)); got != 1 {
			t.Errorf("there are %d warnings, not 1", got)
		}
	})
}

func TestCondition(t *testing.T) {
	request := Request{
		SpiffeID: "spiffe://td/ns/legacy", SNI: "a.example", Method: "GET", Path: "/a/b?x=1",
		Headers: []HeaderLine{{"X-Team", "core"}},
	}
	tests := []struct {
		name, condition string
		holds           bool
	}{
		{"all that are given hold", `{sni: a.example, method: GET}`, true},
		{"one of them does not", `{sni: a.example, method: PUT}`, false},
		{"a prefix is itself", `{spiffeId: {type: Prefix, value: "spiffe://td/ns/legacy"}}`, true},
		{"with a slash too", `{spiffeId: {type: Prefix, value: "spiffe://td/ns/legacy/"}}`, true},
		{"a trust domain", `{spiffeId: {type: Prefix, value: "spiffe://td"}}`, true},
		{"part of a segment", `{spiffeId: {type: Prefix, value: "spiffe://td/ns/leg"}}`, false},
		{"exactly", `{spiffeId: {type: Exact, value: "spiffe://td/ns"}}`, false},
		{"a path without its query", `{path: {type: Exact, value: /a/b}}`, true},
		{"a path below", `{path: {type: Prefix, value: /a/}}`, true},
		{"every path", `{path: {type: Prefix, value: /}}`, true},
		{"part of a path's segment", `{path: {type: Prefix, value: /a/bb}}`, false},
		{"a regular expression of the whole", `{path: {type: RegularExpression, value: "/a|/a/."}}`, true},
		{"a regular expression of a part", `{path: {type: RegularExpression, value: "/a"}}`, false},
		{"a header in another case", `{headers: [{name: x-team, value: core}]}`, true},
		{"a header's prefix", `{headers: [{name: x-team, type: Prefix, value: co}]}`, true},
		{"a header's expression", `{headers: [{name: x-team, type: RegularExpression, value: c}]}`, false},
		{"a header that is there", `{headers: [{name: x-team, type: Present}]}`, true},
		{"a header that is not", `{headers: [{name: x-other, type: Absent}, {name: x-team, type: Absent}]}`, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			policies := served + "\n---\n{type: MeshTrafficPermission, mesh: m, name: p, spec: {default: {allow: [" + test.condition + "]}}}"
			decision := access(t, policies, "http-port", request)["decision"]
			if holds := decision == "ALLOW"; holds != test.holds {
				t.Errorf("it is %v", decision)
			}
		})
	}
	t.Run("a client without an identity", func(t *testing.T) {
		policies := served + "\n---\n{type: MeshTrafficPermission, mesh: m, name: p, spec: {default: {allow: [{spiffeId: {type: Prefix, value: \"spiffe://td\"}}]}}}"
		expect(t, access(t, policies, "http-port", Request{})["decision"], `"DENY"`)
	})
}

func TestPermissionsAreListed(t *testing.T) {
	set := load(t, permissions002)
	answer := inspectKind(t, set, "backend", Options{Kind: "MeshTrafficPermission"})
	inbounds := answer["inbounds"].([]any)
	const operator = `{"kri": "kri_mtp_m___by-mesh-operator_", "deny": [{"spiffeId": {"type": "Exact", "value": "spiffe://trust-domain.mesh/ns/default/sa/frontend"}}]}`
	expect(t, inbounds[1].(map[string]any)["permissions"], `[`+operator+`]`)
	expect(t, inbounds[0].(map[string]any)["permissions"], `[`+operator+`, {
		"kri": "kri_mtp_m___by-service-owner_",
		"deny": [{"spiffeId": {"type": "Exact", "value": "spiffe://trust-domain.mesh/ns/default/sa/api-gateway"}}],
		"allowWithShadowDeny": [{"spiffeId": {"type": "Prefix", "value": "spiffe://trust-domain.mesh/ns/legacy"}}],
		"allow": [{"spiffeId": {"type": "Prefix", "value": "spiffe://trust-domain.mesh/"}}]
	}]`)
}
