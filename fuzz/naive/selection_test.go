package naive

import (
	"fmt"
	"testing"

	"github.com/meshmatch/meshmatch/core/resource"
)

const dataplanes = `
type: Dataplane
mesh: m
name: sidecar
labels: {app: web, k8s.kuma.io/namespace: shop}
networking:
  address: 10.0.0.1
  inbound:
    - {name: http, port: 80, tags: {kuma.io/service: web, version: v1}}
    - {port: 81, tags: {kuma.io/service: admin, version: v2}}
---
type: Dataplane
mesh: m
name: gateway
labels: {app: edge}
networking: {address: 10.0.0.2, gateway: {type: BUILTIN, tags: {kuma.io/service: edge, version: v1}}}
---
type: Dataplane
mesh: m
name: delegated
networking: {address: 10.0.0.3, gateway: {tags: {kuma.io/service: edge}}}
---
type: Dataplane
mesh: m
name: bare
networking: {address: 10.0.0.4}
---
type: Dataplane
mesh: other
name: elsewhere
networking: {address: 10.0.0.5}
---
type: MeshHTTPRoute
mesh: m
name: route
labels: {k8s.kuma.io/namespace: shop}
spec:
  targetRef: {kind: Dataplane, sectionName: http}
  to: [{}]
---
type: MeshHTTPRoute
mesh: m
name: route
spec:
  targetRef: {kind: MeshGateway, name: edge}
  to: [{}]
---
type: MeshHTTPRoute
mesh: m
name: informs
labels: {kuma.io/effect: shadow}
spec:
  to: [{}]
`

func TestSelection(t *testing.T) {
	tests := []struct {
		name, ref string
		want      string // the dataplanes, with the numbers of the inbounds
	}{
		{"Mesh", `{kind: Mesh}`, "bare[] delegated[] gateway[] sidecar[0 1]"},
		{"Mesh, sidecars", `{kind: Mesh, proxyTypes: [Sidecar]}`, "bare[] sidecar[0 1]"},
		{"Mesh, gateways", `{kind: Mesh, proxyTypes: [Gateway]}`, "delegated[] gateway[]"},
		{"Dataplane, all", `{kind: Dataplane}`, "bare[] delegated[] gateway[] sidecar[0 1]"},
		{"Dataplane by name", `{kind: Dataplane, name: sidecar}`, "sidecar[0 1]"},
		{"Dataplane by name in a namespace", `{kind: Dataplane, name: sidecar, namespace: shop}`, "sidecar[0 1]"},
		{"Dataplane by name in another namespace", `{kind: Dataplane, name: sidecar, namespace: x}`, ""},
		{"Dataplane by labels", `{kind: Dataplane, labels: {app: edge}}`, "gateway[]"},
		{"Dataplane by two labels, one different", `{kind: Dataplane, labels: {app: web, k8s.kuma.io/namespace: x}}`, ""},
		{"a label's star is a star", `{kind: Dataplane, labels: {app: "*"}}`, ""},
		{"section by name", `{kind: Dataplane, sectionName: http}`, "sidecar[0]"},
		{"section by port, without a name", `{kind: Dataplane, sectionName: "81"}`, "sidecar[1]"},
		{"section by port, with a name", `{kind: Dataplane, sectionName: "80"}`, ""},
		{"MeshSubset", `{kind: MeshSubset, tags: {version: v1}}`, "gateway[] sidecar[0]"},
		{"MeshSubset, sidecars", `{kind: MeshSubset, tags: {version: v1}, proxyTypes: [Sidecar]}`, "sidecar[0]"},
		{"MeshSubset, any value", `{kind: MeshSubset, tags: {version: "*"}}`, "gateway[] sidecar[0 1]"},
		{"tags of two inbounds", `{kind: MeshSubset, tags: {version: v1, kuma.io/service: admin}}`, ""},
		{"MeshService", `{kind: MeshService, name: edge}`, "delegated[] gateway[]"},
		{"MeshServiceSubset", `{kind: MeshServiceSubset, name: edge, tags: {version: v1}}`, "gateway[]"},
		{"MeshServiceSubset of two services", `{kind: MeshServiceSubset, name: web, tags: {kuma.io/service: admin}}`, ""},
		{"MeshGateway", `{kind: MeshGateway, name: edge}`, "gateway[]"},
		{"MeshGateway with tags", `{kind: MeshGateway, name: edge, tags: {version: v2}}`, ""},
		{"MeshGateway in a namespace", `{kind: MeshGateway, name: edge, namespace: shop}`, ""},
		{"MeshHTTPRoute of any namespace", `{kind: MeshHTTPRoute, name: route}`, "gateway[] sidecar[0]"},
		{"MeshHTTPRoute of one namespace", `{kind: MeshHTTPRoute, name: route, namespace: shop}`, "sidecar[0]"},
		{"MeshTCPRoute that is not there", `{kind: MeshTCPRoute, name: route}`, ""},
		{"a route that only informs", `{kind: MeshHTTPRoute, name: informs}`, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			set := load(t, dataplanes+"---\n{type: ProxyTemplate, mesh: m, name: p, spec: {targetRef: "+test.ref+", default: {}}}")
			if got := selected(set); got != test.want {
				t.Errorf("it selects %s\nwant       %s", got, test.want)
			}
		})
	}
}

// selected prints the selection of the last policy.
func selected(set *resource.Set) string {
	m := newMesh(set, "m", Options{})
	var text string
	for _, dp := range set.Dataplanes {
		s := m.selects(set.Policies[len(set.Policies)-1], dp)
		if !s.selected {
			continue
		}
		numbers := []int{}
		for i, in := range s.inbounds {
			if in {
				numbers = append(numbers, i)
			}
		}
		if text != "" {
			text += " "
		}
		text += dp.Name + fmt.Sprint(numbers)
	}
	return text
}

// SPEC 3, from the lowest priority to the highest.
func TestOrder(t *testing.T) {
	text := dataplanes
	for i, policy := range []string{
		`name: a, spec: {targetRef: {kind: MeshHTTPRoute, name: route}, default: {}}`,
		`name: b, spec: {targetRef: {kind: MeshServiceSubset, name: web, tags: {version: v1}}, default: {}}`,
		`name: c, spec: {targetRef: {kind: MeshService, name: web}, default: {}}`,
		`name: d, spec: {targetRef: {kind: MeshSubset, tags: {version: v1}}, default: {}}`,
		`name: e, spec: {targetRef: {kind: Dataplane, sectionName: http}, default: {}}`,
		`name: f, spec: {targetRef: {kind: Dataplane, name: sidecar}, default: {}}`,
		`name: zz, spec: {default: {}}`,
		`name: aa, labels: {k8s.kuma.io/namespace: z}, spec: {default: {}}`,
		`name: aa, labels: {k8s.kuma.io/namespace: y}, spec: {default: {}}`,
		`name: Z, spec: {default: {}}`,
		`name: informs, labels: {kuma.io/effect: shadow}, spec: {default: {}}`,
	} {
		text += fmt.Sprintf("---\n# %d\n{type: ProxyTemplate, mesh: m, %s}\n", i, policy)
	}
	set := load(t, text)
	for _, test := range []struct {
		name   string
		shadow bool
		want   string
	}{
		{"effective", false, "[Z/Mesh aa.y/Mesh aa.z/Mesh zz/Mesh f/Dataplane e/Dataplane d/MeshSubset c/MeshService b/MeshServiceSubset a/MeshHTTPRoute]"},
		{"shadow", true, "[Z/Mesh aa.y/Mesh aa.z/Mesh informs/Mesh zz/Mesh f/Dataplane e/Dataplane d/MeshSubset c/MeshService b/MeshServiceSubset a/MeshHTTPRoute]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			answer := inspectKind(t, set, "sidecar", Options{Kind: "ProxyTemplate", Shadow: test.shadow})
			for _, entry := range answer["matched"].([]any) {
				m := entry.(map[string]any)
				name := m["name"].(string)
				if namespace, ok := m["namespace"]; ok {
					name += "." + namespace.(string)
				}
				got = append(got, name+"/"+m["level"].(string))
			}
			if fmt.Sprint(got) != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func inspectKind(t *testing.T, set *resource.Set, dataplane string, opt Options) map[string]any {
	t.Helper()
	answer, err := Inspect(testKinds(), set, "m", "", dataplane, opt)
	if err != nil {
		t.Fatal(err)
	}
	return answer["policies"].([]any)[0].(map[string]any)
}

func TestKRI(t *testing.T) {
	meta := resource.Meta{
		ID:     resource.ID{Mesh: "m_1", Namespace: "ns", Name: "50%"},
		Labels: resource.NewTags(map[string]string{"kuma.io/zone": "east"}),
	}
	if got, want := kri("mt", &meta), "kri_mt_m%5F1_east_ns_50%25_"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestErrors(t *testing.T) {
	set := load(t, dataplanes+`
---
type: Dataplane
mesh: m
name: twin
labels: {k8s.kuma.io/namespace: shop}
networking: {address: 10.0.0.4}
---
type: Dataplane
mesh: m
name: twin
labels: {k8s.kuma.io/namespace: x}
networking: {address: 10.0.0.5}
---
type: Dataplane
mesh: m
name: bare
labels: {k8s.kuma.io/namespace: shop}
networking: {address: 10.0.0.6}
`)
	for _, test := range []struct{ name, mesh, namespace, dataplane, kind string }{
		{"no such mesh", "x", "", "bare", ""},
		{"no such dataplane", "m", "", "x", ""},
		{"no such namespace", "m", "x", "sidecar", ""},
		{"two of the name", "m", "", "twin", ""},
		{"no such kind", "m", "", "sidecar", "MeshX"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if answer, err := Inspect(testKinds(), set, test.mesh, test.namespace, test.dataplane, Options{Kind: test.kind}); err == nil {
				t.Errorf("there is an answer: %v", answer)
			}
		})
	}
	for _, test := range []struct{ name, namespace, dataplane, kri string }{
		{"a namespace is enough", "x", "twin", "kri_dp_m__x_twin_"},
		{"the empty namespace is one", "", "bare", "kri_dp_m___bare_"},
		{"a unique name needs none", "", "sidecar", "kri_dp_m__shop_sidecar_"},
	} {
		t.Run(test.name, func(t *testing.T) {
			answer, err := Inspect(testKinds(), set, "m", test.namespace, test.dataplane, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := answer["dataplane"].(map[string]any)["kri"]; got != test.kri {
				t.Errorf("got %s, want %s", got, test.kri)
			}
		})
	}
}
