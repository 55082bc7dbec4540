package naive

import (
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

// The example UpstreamTimeout of 000, with its annotation of every field.
func TestUpstreamTimeout(t *testing.T) {
	set := load(t, web+`
---
type: UpstreamTimeout
mesh: m
name: 00-base-timeouts
spec:
  to:
    - default: {connectTimeout: 10s, http: {requestTimeout: 5s, idleTimeout: 1h}}
---
type: UpstreamTimeout
mesh: m
name: 01-consume-backend-timeouts
spec:
  to:
    - targetRef: {kind: MeshService, name: backend}
      default: {connectTimeout: 20s, http: {idleTimeout: 0s}}
---
type: UpstreamTimeout
mesh: m
name: web-timeouts
spec:
  targetRef: {kind: MeshService, name: web}
  to:
    - default: {connectTimeout: 5s}
    - targetRef: {kind: MeshService, name: backend}
      default: {http: {requestTimeout: 15s}}
`)
	answer := inspect(t, set, "web-1", Options{Explain: true})
	expect(t, answer["outbounds"], `[
		{
			"outbound": {"port": 8081, "tags": {"kuma.io/service": "backend"}},
			"conf": {"connectTimeout": "5s", "http": {"requestTimeout": "15s", "idleTimeout": "0s"}},
			"origins": [
				{"kri": "kri_ut_m___01-consume-backend-timeouts_", "index": 0},
				{"kri": "kri_ut_m___web-timeouts_", "index": 0},
				{"kri": "kri_ut_m___web-timeouts_", "index": 1}
			],
			"fields": {
				"/connectTimeout": {"kri": "kri_ut_m___web-timeouts_", "index": 0},
				"/http/requestTimeout": {"kri": "kri_ut_m___web-timeouts_", "index": 1},
				"/http/idleTimeout": {"kri": "kri_ut_m___01-consume-backend-timeouts_", "index": 0}
			}
		},
		{
			"outbound": {"port": 8082, "tags": {"kuma.io/service": "payments"}},
			"conf": {"connectTimeout": "5s", "http": {"requestTimeout": "5s", "idleTimeout": "1h"}},
			"origins": [
				{"kri": "kri_ut_m___00-base-timeouts_", "index": 0},
				{"kri": "kri_ut_m___web-timeouts_", "index": 0}
			],
			"fields": {
				"/connectTimeout": {"kri": "kri_ut_m___web-timeouts_", "index": 0},
				"/http/requestTimeout": {"kri": "kri_ut_m___00-base-timeouts_", "index": 0},
				"/http/idleTimeout": {"kri": "kri_ut_m___00-base-timeouts_", "index": 0}
			}
		}
	]`)
	expect(t, answer["matched"], `[
		{"name": "00-base-timeouts", "kri": "kri_ut_m___00-base-timeouts_", "level": "Mesh", "inbounds": ["80"]},
		{"name": "01-consume-backend-timeouts", "kri": "kri_ut_m___01-consume-backend-timeouts_", "level": "Mesh", "inbounds": ["80"]},
		{"name": "web-timeouts", "kri": "kri_ut_m___web-timeouts_", "level": "MeshService", "inbounds": ["80"]}
	]`)
}

// The bottom item wins whatever its kind: 000, "Outbound policy" and "Inbound
// policy".
func TestTheBottomItemWins(t *testing.T) {
	set := load(t, web+`
---
type: Params
mesh: m
name: p
spec:
  to:
    - default: {param1: value1}
    - targetRef: {kind: MeshService, name: backend}
      default: {param1: value2, param2: value3}
    - default: {param2: value4}
  from:
    - targetRef: {kind: MeshServiceSubset, name: backend, tags: {version: v2}}
      default: {param1: value1}
    - targetRef: {kind: MeshService, name: backend}
      default: {param1: value2, param2: value3}
    - default: {param2: value4}
`)
	backend := inspect(t, set, "web-1", Options{})["outbounds"].([]any)[0]
	const both = `{
		"conf": {"param1": "value2", "param2": "value4"},
		"origins": [{"kri": "kri_pa_m___p_", "index": 1}, {"kri": "kri_pa_m___p_", "index": 2}]
	}`
	delete(backend.(map[string]any), "outbound")
	expect(t, backend, both)
	expect(t, client(t, set, map[string]string{"kuma.io/service": "backend", "version": "v2"}), both)
}

// 001's result: incomingServiceC inherits the idle timeout.
func TestMerging001(t *testing.T) {
	set := load(t, web+`
---
type: UpstreamTimeout
mesh: m
name: z
spec:
  from:
    - targetRef: {kind: MeshService, name: incomingServiceB}
      default: {http: {requestTimeout: 5s}}
    - targetRef: {kind: MeshService, name: incomingServiceC}
      default: {http: {requestTimeout: 10s, idleTimeout: 5s}}
---
type: UpstreamTimeout
mesh: m
name: a
spec:
  targetRef: {kind: MeshSubset, tags: {with-timeout: v1}}
  from:
    - targetRef: {kind: MeshService, name: incomingServiceA}
      default: {http: {requestTimeout: 3s}}
    - targetRef: {kind: MeshService, name: incomingServiceC}
      default: {http: {requestTimeout: 2s}}
`)
	for service, want := range map[string]string{
		"incomingServiceA": `{"http": {"requestTimeout": "3s"}}`,
		"incomingServiceB": `{"http": {"requestTimeout": "5s"}}`,
		"incomingServiceC": `{"http": {"requestTimeout": "2s", "idleTimeout": "5s"}}`,
	} {
		clients := from(t, set, "UpstreamTimeout")
		expect(t, clients.C(map[string]string{"kuma.io/service": service})["conf"], want)
	}
}

// 000, "Rule-based view": what the three rules say.
func TestRuleBasedView(t *testing.T) {
	set := load(t, web+`
---
type: Params
mesh: m
name: p
spec:
  from:
    - targetRef: {kind: MeshSubset, tags: {kuma.io/zone: us-east}}
      default: {param1: value1, param2: value2}
    - targetRef: {kind: MeshSubset, tags: {team: dev}}
      default: {param2: value3, param3: value4}
`)
	for name, c := range map[string]struct {
		tags map[string]string
		want string
	}{
		"both":        {map[string]string{"kuma.io/zone": "us-east", "team": "dev"}, `{"param1": "value1", "param2": "value3", "param3": "value4"}`},
		"zone":        {map[string]string{"kuma.io/zone": "us-east", "team": "ops"}, `{"param1": "value1", "param2": "value2"}`},
		"team":        {map[string]string{"team": "dev"}, `{"param2": "value3", "param3": "value4"}`},
		"other zone":  {map[string]string{"kuma.io/zone": "us-west"}, `null`},
		"nobody else": {nil, `null`},
	} {
		t.Run(name, func(t *testing.T) { expect(t, client(t, set, c.tags)["conf"], c.want) })
	}
}

// What can tell clients apart, and which items select one, overridden or not.
func TestClients(t *testing.T) {
	set := load(t, web+`
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
`)
	clients := from(t, set, "Params")
	expect(t, clients.Asked(), `{"kuma.io/service": ["api"], "team": [], "version": ["v1", "v2"]}`)
	expect(t, clients.Items(map[string]string{"team": "x", "version": "v1"}), `[
		{"kri": "kri_pa_m___p_", "index": 0}, {"kri": "kri_pa_m___p_", "index": 1}
	]`)
}

// 000, ProxyTemplate: an empty list overrides.
func TestProxyTemplate(t *testing.T) {
	set := load(t, web+`
---
type: ProxyTemplate
mesh: m
name: pt-1
spec:
  targetRef: {kind: MeshService, name: web}
  default:
    imports: [default-proxy]
    modifications: [{cluster: {operation: add}}]
---
type: ProxyTemplate
mesh: m
name: pt-2
spec:
  targetRef: {kind: MeshServiceSubset, name: web, tags: {with-timeout: v1}}
  default:
    modifications: []
`)
	expect(t, inspect(t, set, "web-1", Options{})["default"], `{
		"conf": {"imports": ["default-proxy"], "modifications": []},
		"origins": [{"kri": "kri_pt_m___pt-1_", "index": 0}, {"kri": "kri_pt_m___pt-2_", "index": 0}]
	}`)
}

func client(t *testing.T, set *resource.Set, tags map[string]string) map[string]any {
	t.Helper()
	return from(t, set, "Params").C(tags)
}

func from(t *testing.T, set *resource.Set, kind string) *Concatenation {
	t.Helper()
	c, err := FromOf(testKinds(), set, "m", "", "web-1", "80", Options{Kind: kind})
	if err != nil {
		t.Fatal(err)
	}
	return c
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
---
type: UpstreamTimeout
mesh: m
name: b
spec:
  to:
    - default: {http: {idleTimeout: 1s}}
`)
	to, err := ToOf(testKinds(), set, "m", "", "web-1", Options{Kind: "UpstreamTimeout"})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, to.C(map[string]string{"kuma.io/service": "other"})["conf"], `{"http": {"requestTimeout": "2s", "idleTimeout": "1s"}}`)
	expect(t, to.C(nil)["conf"], `{"http": {"idleTimeout": "1s"}}`)
	expect(t, to.Asked(), `{"kuma.io/service": ["other"]}`)
	if !to.AsksForOneTag() {
		t.Error("an item asks for more than its service")
	}
}
