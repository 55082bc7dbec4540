package meshtrafficpermission_test

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/kindtest"
	"github.com/meshmatch/meshmatch/core/kind/meshtrafficpermission"
)

func TestAccepted(t *testing.T) {
	kindtest.Accepted(t, meshtrafficpermission.Kind(), `
type: MeshTrafficPermission
mesh: default
name: by-service-owner
spec:
  targetRef: {kind: Dataplane, labels: {app: backend}, sectionName: http-port}
  rules:
    - default:
        deny:
          - spiffeId: {type: Exact, value: "spiffe://trust-domain.mesh/ns/default/sa/api-gateway"}
        allowWithShadowDeny:
          - spiffeId: {type: Prefix, value: "spiffe://trust-domain.mesh/ns/legacy"}
        allow:
          - spiffeId: {type: Prefix, value: "spiffe://trust-domain.mesh/"}
          - sni: web.example
            path: {type: RegularExpression, value: "/v[0-9]+/.*"}
            method: GET
            headers: [{type: Exact, name: x-a, value: "1"}]
    - default: {allow: []}
`, `
type: MeshTrafficPermission
mesh: default
name: allow-only-infra
spec:
  targetRef: {kind: Mesh, name: default}
  from:
    - targetRef: {kind: Mesh, name: default}
      default: {action: Deny}
    - targetRef: {kind: MeshService, name: infra-logger}
      default: {action: Allow}
    - targetRef: {kind: MeshSubset, name: default, tags: {team: legacy}}
      default: {action: AllowWithShadowDeny}
    - targetRef: {kind: MeshSubset, name: default, tags: {team: unknown}}
      default: {}
`)
}

func TestActionInAnyLetterCase(t *testing.T) {
	for text, want := range map[string]meshtrafficpermission.Action{
		"ALLOW": meshtrafficpermission.Allow, "deny": meshtrafficpermission.Deny, "Deny": meshtrafficpermission.Deny,
		"allowwithshadowdeny": meshtrafficpermission.AllowWithShadowDeny,
	} {
		var got meshtrafficpermission.Action
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want {
			t.Errorf("%s: got %q, %v; want %q", text, got, err, want)
		}
	}
}

func TestRejected(t *testing.T) {
	kindtest.Rejected(t, meshtrafficpermission.Kind(), map[string]kindtest.Case{
		"empty match allowed": {
			Conf: `{allow: [{}]}`,
			Want: `p.yaml:2:10: spec.rules[0].default.allow[0]: an empty match is not allowed in a permission list; give spiffeId, sni, path, method or headers`,
		},
		"empty match denied": {
			Conf: `{deny: [{method: GET}, {headers: []}]}`,
			Want: `p.yaml:2:24: spec.rules[0].default.deny[1]: an empty match is not allowed in a permission list; give spiffeId, sni, path, method or headers`,
		},
		"empty match in the shadow": {
			Conf: `{allowWithShadowDeny: [{}]}`,
			Want: `p.yaml:2:24: spec.rules[0].default.allowWithShadowDeny[0]: an empty match is not allowed in a permission list; give spiffeId, sni, path, method or headers`,
		},
		"action of from in rules": {
			Conf: `{action: Allow}`,
			Want: `p.yaml:2:2: spec.rules[0].default.action: unknown field; one of "deny", "allowWithShadowDeny", "allow"`,
		},
		"unknown action": {
			In:   "from",
			Conf: `{action: Permit}`,
			Want: `p.yaml:2:10: spec.from[0].default.action: unknown value "Permit"; one of "Allow", "Deny", "AllowWithShadowDeny"`,
		},
		"SPIFFE ID": {
			Conf: `{allow: [{spiffeId: {type: Exact, value: trust-domain/a}}]}`,
			Want: `p.yaml:2:42: spec.rules[0].default.allow[0].spiffeId.value: bad SPIFFE ID "trust-domain/a": it must start with spiffe://; write spiffe://trust-domain/path`,
		},
	})
}
