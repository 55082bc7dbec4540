package naive

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/meshmatch/meshmatch/core/resource"
)

const web = `
type: Dataplane
mesh: m
name: web-1
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web, with-timeout: v1}}]
  outbound:
    - {port: 8081, tags: {kuma.io/service: backend}}
    - {port: 8082, tags: {kuma.io/service: payments}}
`

// seed reads an example from the documents on which SPEC is based.
func seed(t *testing.T, file string) *resource.Set {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "seeds", file))
	if err != nil {
		t.Fatal(err)
	}
	return load(t, string(text))
}

// The results that 000 prints for outbounds, with the origin of every field.
func TestOutboundsOf000(t *testing.T) {
	for name, test := range map[string]struct{ file, kind, service, conf, fields string }{
		"Outbound policy: the last item wins, whatever its targetRef": {
			"000-params.yaml", "Params", "backend", `{"param1": "value2", "param2": "value4"}`,
			`{"/param1": {"kri": "kri_pa_mesh-1___params_", "index": 1}, "/param2": {"kri": "kri_pa_mesh-1___params_", "index": 2}}`,
		},
		"UpstreamTimeout, backend": {
			"000-upstream-timeout.yaml", "UpstreamTimeout", "backend", `{"connectTimeout": "5s", "http": {"requestTimeout": "15s", "idleTimeout": "0s"}}`,
			`{
				"/connectTimeout": {"kri": "kri_ut_mesh-1___web-timeouts_", "index": 0},
				"/http/requestTimeout": {"kri": "kri_ut_mesh-1___web-timeouts_", "index": 1},
				"/http/idleTimeout": {"kri": "kri_ut_mesh-1___01-consume-backend-timeouts_", "index": 0}
			}`,
		},
		"UpstreamTimeout, payments": {
			"000-upstream-timeout.yaml", "UpstreamTimeout", "payments", `{"connectTimeout": "5s", "http": {"requestTimeout": "5s", "idleTimeout": "1h"}}`,
			`{
				"/connectTimeout": {"kri": "kri_ut_mesh-1___web-timeouts_", "index": 0},
				"/http/requestTimeout": {"kri": "kri_ut_mesh-1___00-base-timeouts_", "index": 0},
				"/http/idleTimeout": {"kri": "kri_ut_mesh-1___00-base-timeouts_", "index": 0}
			}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			answer, err := Inspect(testKinds(), seed(t, test.file), "mesh-1", "", "web", Options{Kind: test.kind, Explain: true})
			if err != nil {
				t.Fatal(err)
			}
			for _, outbound := range answer["policies"].([]any)[0].(map[string]any)["outbounds"].([]any) {
				o := outbound.(map[string]any)
				if tags := tree(t, o["outbound"]).(map[string]any)["tags"].(map[string]any); tags[resource.ServiceTag] == test.service {
					expect(t, o["conf"], test.conf)
					expect(t, o["fields"], test.fields)
					return
				}
			}
			t.Fatalf("there is no outbound to %s", test.service)
		})
	}
}

// The policies of the same example, in order, with their levels and inbounds.
func TestMatchedOf000(t *testing.T) {
	answer, err := Inspect(testKinds(), seed(t, "000-upstream-timeout.yaml"), "mesh-1", "", "web", Options{})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, answer["policies"].([]any)[0].(map[string]any)["matched"], `[
		{"name": "00-base-timeouts", "kri": "kri_ut_mesh-1___00-base-timeouts_", "level": "Mesh", "inbounds": ["80"]},
		{"name": "01-consume-backend-timeouts", "kri": "kri_ut_mesh-1___01-consume-backend-timeouts_", "level": "Mesh", "inbounds": ["80"]},
		{"name": "web-timeouts", "kri": "kri_ut_mesh-1___web-timeouts_", "level": "MeshService", "inbounds": ["80"]}
	]`)
}

// The results that 000 prints for clients.
func TestClientsOf000(t *testing.T) {
	for name, test := range map[string]struct {
		file, mesh, kind string
		tags             map[string]string
		want             string
	}{
		"000 Inbound policy: the last item wins, whatever its targetRef": {
			"000-zone-team.yaml", "mesh-2", "Params", map[string]string{"kuma.io/service": "backend", "version": "v2"}, `{"param1": "value2", "param2": "value4"}`,
		},
		"000 Rule-based view, both tags": {
			"000-zone-team.yaml", "mesh-1", "Params", map[string]string{"kuma.io/zone": "us-east", "team": "dev"}, `{"param1": "value1", "param2": "value3", "param3": "value4"}`,
		},
		"000 Rule-based view, the zone": {
			"000-zone-team.yaml", "mesh-1", "Params", map[string]string{"kuma.io/zone": "us-east", "team": "ops"}, `{"param1": "value1", "param2": "value2"}`,
		},
		"000 Rule-based view, the team": {
			"000-zone-team.yaml", "mesh-1", "Params", map[string]string{"team": "dev"}, `{"param2": "value3", "param3": "value4"}`,
		},
		"000 Rule-based view, another zone": {
			"000-zone-team.yaml", "mesh-1", "Params", map[string]string{"kuma.io/zone": "us-west"}, `null`,
		},
		"000 Rule-based view, no tags": {"000-zone-team.yaml", "mesh-1", "Params", nil, `null`},
	} {
		t.Run(name, func(t *testing.T) {
			clients, err := FromOf(testKinds(), seed(t, test.file), test.mesh, "", "web", "80", Options{Kind: test.kind})
			if err != nil {
				t.Fatal(err)
			}
			expect(t, clients.C(test.tags)["conf"], test.want)
		})
	}
}

// 001, "Merging": MeshSubset overrides Mesh for incomingServiceC, which inherits
// the idle timeout.
func TestMergingOf001(t *testing.T) {
	clients := from(t, web+`
---
type: UpstreamTimeout
mesh: m
name: z
spec:
  from:
    - targetRef: {kind: MeshService, name: incomingServiceC}
      default: {http: {requestTimeout: 10s, idleTimeout: 5s}}
---
type: UpstreamTimeout
mesh: m
name: a
spec:
  targetRef: {kind: MeshSubset, tags: {with-timeout: v1}}
  from:
    - targetRef: {kind: MeshService, name: incomingServiceC}
      default: {http: {requestTimeout: 2s}}
`, "UpstreamTimeout")
	expect(t, clients.C(map[string]string{"kuma.io/service": "incomingServiceC"})["conf"], `{"http": {"requestTimeout": "2s", "idleTimeout": "5s"}}`)
}

// The tags that distinguish clients, and the items that select a client, including
// overridden ones.
func TestClients(t *testing.T) {
	clients := from(t, web+`
---
type: Params
mesh: m
name: p
spec:
  from:
    - default: {param1: a}
    - targetRef: {kind: MeshSubset, tags: {team: "*", version: v1}}
      default: {param1: b}
    - targetRef: {kind: MeshServiceSubset, name: api, tags: {version: v2}}
      default: {param1: c}
`, "Params")
	expect(t, clients.RequiredTags(), `{"kuma.io/service": ["api"], "team": [], "version": ["v1", "v2"]}`)
	expect(t, clients.Items(map[string]string{"team": "x", "version": "v1"}), `[
		{"kri": "kri_pa_m___p_", "index": 0}, {"kri": "kri_pa_m___p_", "index": 1}
	]`)
}

func from(t *testing.T, text, kind string) *Concatenation {
	t.Helper()
	c, err := FromOf(testKinds(), load(t, text), "m", "", "web-1", "80", Options{Kind: kind})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// 000, ProxyTemplate: an empty list overrides.
func TestProxyTemplateOf000(t *testing.T) {
	answer, err := Inspect(testKinds(), seed(t, "000-proxy-template.yaml"), "default", "", "special", Options{})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, answer["policies"].([]any)[0].(map[string]any)["default"], `{
		"conf": {"imports": ["default-proxy"], "modifications": []},
		"origins": [{"kri": "kri_pt_default___pt-2_", "index": 0}]
	}`)
}

// SPEC 4.5: an outbound that the dataplane does not have.
func TestToOfAnyOutbound(t *testing.T) {
	set := load(t, web+`
---
type: UpstreamTimeout
mesh: m
name: a
spec:
  to:
    - targetRef: {kind: MeshService, name: other}
      default: {http: {requestTimeout: 2s}}
    - default: {http: {idleTimeout: 1s}}
`)
	to, err := ToOf(testKinds(), set, "m", "", "web-1", Options{Kind: "UpstreamTimeout"})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, to.C(map[string]string{"kuma.io/service": "other"})["conf"], `{"http": {"requestTimeout": "2s", "idleTimeout": "1s"}}`)
	expect(t, to.C(nil)["conf"], `{"http": {"idleTimeout": "1s"}}`)
	expect(t, to.RequiredTags(), `{"kuma.io/service": ["other"]}`)
	if !to.RequiresAtMostOneTag() {
		t.Error("an item requires more than its service")
	}
}
