package permission_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core/internal/permissiontest"
	"github.com/meshmatch/meshmatch/core/internal/resourcetest"
)

const warned = `
type: Dataplane
mesh: default
name: backend
networking:
  address: 127.0.0.2
  inbound:
    - {port: 8080, name: http, protocol: http2, tags: {kuma.io/service: backend}}
    - {port: 9090, name: tcp, tags: {kuma.io/service: backend}}
---
type: MeshTrafficPermission
mesh: default
name: lists
spec:
  default:
    deny:
      - spiffeId: {type: Exact, value: "spiffe://shop.mesh/a"}
        method: GET
      - headers: [{name: x, type: Absent}]
      - sni: a.b
    allowWithShadowDeny:
      - path: {type: Exact, value: /a}
    allow:
      - spiffeId: {type: Exact, value: "spiffe://shop.mesh/a"}
        method: GET
---
type: MeshTrafficPermission
mesh: default
name: headers
spec:
  targetRef: {kind: Dataplane, name: backend, sectionName: http}
  rules:
    - default:
        deny:
          - headers: [{name: X-A, type: Present}, {name: x-b, value: b}]
          - headers: [{name: host, value: b}]
          - sni: a.b
            headers: [{name: host, value: b}, {name: x-b, type: Prefix, value: b}]
        allowWithShadowDeny:
          - headers: [{name: x-a, value: a}]
          - headers: [{name: x-a, value: a}, {name: X-C, type: Absent}]
        allow:
          - headers: [{name: x-a, value: a}]
          - headers: [{name: x-a, type: Absent}]
---
type: MeshTrafficPermission
mesh: default
name: tags
spec:
  from:
    - default: {action: Allow}
---
type: MeshTrafficPermission
name: tags-2
spec:
  from:
    - default: {action: Allow}
`

func TestWarnings(t *testing.T) {
	set := resourcetest.Decode(t, warned)
	permissions, err := permissiontest.Permissions(set)
	if err != nil {
		t.Fatal(err)
	}
	const fromIgnored = "mesh.yaml:51:7: spec.from: is ignored, because other policies of the inbound have rules; 1 more like this; write it as rules"
	const hint = "; set the inbound's protocol, or select HTTP inbounds only"
	const chosen = "; decide by what a client cannot choose, such as spiffeId"
	for inbound, want := range map[string][]string{
		"http": {
			"mesh.yaml:16:5: spec.rules[0].default.deny[1]: denies by the absence of the header x, which any client can send" + chosen,
			"mesh.yaml:33:7: spec.rules[0].default.deny[0]: denies by the header x-a, which any client can omit or remove with a Connection header" + chosen,
			"mesh.yaml:33:7: spec.rules[0].default.deny[2]: denies by the header x-b, which any client can omit or remove with a Connection header" + chosen,
			"mesh.yaml:33:7: spec.rules[0].default.allow[1]: allows by the absence of the header x-a, which any client can omit or remove with a Connection header" + chosen,
			"mesh.yaml:33:7: spec.rules[0].default.allowWithShadowDeny[1]: allows by the absence of the header x-c, which any client can omit or remove with a Connection header" + chosen,
			fromIgnored,
		},
		"tcp": {
			"mesh.yaml:16:5: spec.rules[0].default.deny[0]: has HTTP conditions, which the TCP inbound cannot see: it denies by its remaining conditions" + hint,
			"mesh.yaml:16:5: spec.rules[0].default.deny[1]: has only HTTP conditions, which the TCP inbound cannot see: it denies every client" + hint,
			"mesh.yaml:16:5: spec.rules[0].default.allow[0]: has HTTP conditions, which the TCP inbound cannot see: it never matches" + hint,
			"mesh.yaml:16:5: spec.rules[0].default.allowWithShadowDeny[0]: has HTTP conditions, which the TCP inbound cannot see: it never matches" + hint,
			fromIgnored,
		},
	} {
		var got []string
		for _, w := range permissions[inbound].Warnings {
			got = append(got, w.Error())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", inbound, diff)
		}
	}
}
