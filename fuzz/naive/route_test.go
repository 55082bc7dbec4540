package naive

import "testing"

const routed = `
type: Dataplane
mesh: m
name: web-1
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web}}]
  outbound:
    - {port: 8081, tags: {kuma.io/service: payments, version: v2}}
    - {port: 8082, tags: {kuma.io/service: backend}}
---
type: MeshHTTPRoute
mesh: m
name: info
spec: {to: [{targetRef: {kind: MeshService, name: payments}, rules: [one]}]}
---
type: MeshTCPRoute
mesh: m
name: info
spec: {to: [{targetRef: {kind: MeshServiceSubset, name: payments, tags: {version: v2}}}]}
---
type: MeshHTTPRoute
mesh: m
name: v1-only
spec: {to: [{targetRef: {kind: MeshServiceSubset, name: payments, tags: {version: v1}}}]}
---
type: MeshHTTPRoute
mesh: m
name: of-others
spec: {targetRef: {kind: MeshService, name: x}, to: [{}]}
`

func TestRoutes(t *testing.T) {
	set := load(t, routed+`
---
type: Params
mesh: m
name: a-route
spec:
  targetRef: {kind: MeshHTTPRoute, name: info}
  to: [{default: {param3: of the route}}]
---
type: Params
mesh: m
name: p
spec:
  to:
    - default: {param1: mesh, param2: mesh, param3: mesh}
    - targetRef: {kind: MeshHTTPRoute, name: info}
      default: {param1: route}
    - targetRef: {kind: MeshService, name: backend}
      default: {param2: backend}
`)
	answer := inspectKind(t, set, "web-1", Options{Kind: "Params"})
	expect(t, answer["outbounds"], `[
		{
			"outbound": {"port": 8081, "tags": {"kuma.io/service": "payments", "version": "v2"}},
			"conf": {"param1": "mesh", "param2": "mesh", "param3": "mesh"},
			"origins": [{"kri": "kri_pa_m___p_", "index": 0}],
			"routes": [
				{
					"route": "kri_mhttpr_m___info_",
					"conf": {"param1": "route", "param2": "mesh", "param3": "of the route"},
					"origins": [{"kri": "kri_pa_m___p_", "index": 0}, {"kri": "kri_pa_m___p_", "index": 1}, {"kri": "kri_pa_m___a-route_", "index": 0}]
				},
				{
					"route": "kri_mtcpr_m___info_",
					"conf": {"param1": "mesh", "param2": "mesh", "param3": "mesh"},
					"origins": [{"kri": "kri_pa_m___p_", "index": 0}]
				}
			]
		},
		{
			"outbound": {"port": 8082, "tags": {"kuma.io/service": "backend"}},
			"conf": {"param1": "mesh", "param2": "backend", "param3": "mesh"},
			"origins": [{"kri": "kri_pa_m___p_", "index": 0}, {"kri": "kri_pa_m___p_", "index": 2}]
		}
	]`)
}

// If no item applies, there is no conf, but the routes are in the answer.
func TestRoutesWithoutConf(t *testing.T) {
	set := load(t, routed+`
---
type: Params
mesh: m
name: p
spec: {to: [{targetRef: {kind: MeshService, name: x}, default: {}}]}
`)
	answer := inspectKind(t, set, "web-1", Options{Kind: "Params"})
	expect(t, answer["outbounds"], `[
		{"outbound": {"port": 8081, "tags": {"kuma.io/service": "payments", "version": "v2"}}, "routes": [{"route": "kri_mhttpr_m___info_"}, {"route": "kri_mtcpr_m___info_"}]},
		{"outbound": {"port": 8082, "tags": {"kuma.io/service": "backend"}}}
	]`)
}

// The route kinds have confs for outbounds and no routes.
func TestRouteKinds(t *testing.T) {
	set := load(t, routed)
	answer := inspectKind(t, set, "web-1", Options{Kind: "MeshHTTPRoute"})
	expect(t, answer["outbounds"], `[
		{
			"outbound": {"port": 8081, "tags": {"kuma.io/service": "payments", "version": "v2"}},
			"conf": {"rules": ["one"]}, "origins": [{"kri": "kri_mhttpr_m___info_", "index": 0}]
		},
		{"outbound": {"port": 8082, "tags": {"kuma.io/service": "backend"}}}
	]`)
}

// Policies that apply to a route do not contribute to rules, from and default.
func TestRoutePoliciesElsewhere(t *testing.T) {
	set := load(t, routed+`
---
type: Params
mesh: m
name: p
spec: {targetRef: {kind: MeshHTTPRoute, name: info}, rules: [{default: {param1: route}}]}
---
type: ProxyTemplate
mesh: m
name: p
spec: {targetRef: {kind: MeshHTTPRoute, name: info}, default: {imports: [a]}}
`)
	inbounds := inspectKind(t, set, "web-1", Options{Kind: "Params"})["inbounds"]
	expect(t, inbounds, `[{"inbound": {"name": "80", "port": 80, "tags": {"kuma.io/service": "web"}}}]`)
	expect(t, inspectKind(t, set, "web-1", Options{Kind: "ProxyTemplate"}), `{
		"kind": "ProxyTemplate",
		"matched": [{"name": "p", "kri": "kri_pt_m___p_", "level": "MeshHTTPRoute", "inbounds": ["80"]}]
	}`)
}
