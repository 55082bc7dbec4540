package policyvariants_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/app/internal/policyvariants"
	"github.com/meshmatch/meshmatch/core/internal/coretest"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
)

// Three dataplanes have an outbound to api: web of two versions, and batch with an inbound of
// each version.
const mesh = `
{type: Dataplane, name: api, networking: {address: 10.0.0.9, inbound: [{port: 80, tags: {kuma.io/service: api}}]}}
---
{type: Dataplane, name: web-1, networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: web, version: v1}}], outbound: [{port: 1000, tags: {kuma.io/service: api}}]}}
---
{type: Dataplane, name: web-2, networking: {address: 10.0.0.2, inbound: [{port: 80, tags: {kuma.io/service: web, version: v2}}], outbound: [{port: 1000, tags: {kuma.io/service: api}}]}}
---
{type: Dataplane, name: batch, networking: {address: 10.0.0.3, inbound: [{port: 80, tags: {kuma.io/service: batch, version: v1}}, {port: 81, tags: {kuma.io/service: batch, version: v2}}], outbound: [{port: 1000, tags: {kuma.io/service: api}}]}}
`

const (
	everyone = "\n---\n{type: MeshTimeout, name: everyone, spec: {to: [{default: {idleTimeout: 1s}}]}}"
	version1 = "\n---\n{type: MeshTimeout, name: version1, spec: {targetRef: {kind: MeshSubset, tags: {version: v1}}, to: [{default: {idleTimeout: 2s}}]}}"
	again    = "\n---\n{type: MeshTimeout, name: again, spec: {targetRef: {kind: MeshSubset, tags: {version: v2}}, to: [{default: {idleTimeout: 1s}}]}}"
	toOther  = "\n---\n{type: MeshTimeout, name: to-other, spec: {to: [{targetRef: {kind: MeshService, name: other}, default: {idleTimeout: 3s}}]}}"
)

// The variants of the confs for the outbounds to api: the conf of each, and how many dataplanes it
// serves (SPEC 9.4).
func TestAsk(t *testing.T) {
	for _, c := range []struct {
		rule, policies string
		variants       string
		others         string
	}{
		{"no policy is one variant without content", "", "{}: 3", "[]"},
		{"one content is one variant", everyone, `{"idleTimeout":"1s"}: 3`, "[]"},
		{"a dataplane whose inbounds choose different variants is one of the others", everyone + version1, `{"idleTimeout":"1s"}: 1, {"idleTimeout":"2s"}: 1`, "[kri_dp_default___batch_]"},
		{"as many variants as there are contents", everyone + again, `{"idleTimeout":"1s"}: 3`, "[]"},
		{"an item for another destination", everyone + toOther, `{"idleTimeout":"1s"}: 3`, "[]"},
		{"parameters that no fragment accepts", version1, `{"idleTimeout":"2s"}: 1, {}: 1`, "[kri_dp_default___batch_]"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			answer, err := new(policyvariants.Index).Ask(coretest.View(t, mesh+c.policies), "default", kinds.All().Lookup("MeshTimeout"), "api")
			if err != nil {
				t.Fatal(err)
			}
			if got := variantsOf(t, answer); got != c.variants || fmt.Sprint(answer.Others) != c.others {
				t.Errorf("got  %s, others %v\nwant %s, others %s", got, answer.Others, c.variants, c.others)
			}
			if answer.Dataplanes != 3 || answer.Kind != "MeshTimeout" || answer.Name != "default/api" {
				t.Errorf("got %d dataplanes with an outbound to %s, want 3 to default/api", answer.Dataplanes, answer.Name)
			}
		})
	}
}

// variantsOf has the conf of each variant and how many dataplanes it serves, sorted.
func variantsOf(t *testing.T, answer *policyvariants.Answer) string {
	t.Helper()
	var all []string
	for _, v := range answer.Variants {
		text := []byte("{}")
		if v.Conf != nil {
			var err error
			if text, err = json.Marshal(v.Conf); err != nil {
				t.Fatal(err)
			}
		}
		all = append(all, fmt.Sprintf("%s: %d", text, v.Dataplanes))
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// An index follows the views and the meshes for which it is asked.
func TestIndexFollows(t *testing.T) {
	var index policyvariants.Index
	timeouts := kinds.All().Lookup("MeshTimeout")
	other := strings.NewReplacer("type: Dataplane,", "type: Dataplane, mesh: other,").Replace(mesh)
	for _, step := range []struct {
		name, mesh, documents string
		want                  int // the dataplanes with an outbound to api
	}{
		{"a mesh", "default", mesh, 3},
		{"the mesh with one more dataplane", "default", mesh + "---\n{type: Dataplane, name: web-3, networking: {address: 10.0.0.4, outbound: [{port: 1000, tags: {kuma.io/service: api}}]}}", 4},
		{"another mesh", "other", other, 3},
		{"the first mesh", "default", mesh, 3},
	} {
		answer, err := index.Ask(coretest.View(t, step.documents), step.mesh, timeouts, "api")
		if err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if answer.Dataplanes != step.want {
			t.Errorf("%s: got %d dataplanes, want %d", step.name, answer.Dataplanes, step.want)
		}
	}
}

// What cannot be asked (SPEC 9.4).
func TestErrors(t *testing.T) {
	// n policies that apply independently have 2 to the power of n contents.
	policies := func(n int) string {
		var b strings.Builder
		b.WriteString(mesh)
		for i := range n {
			fmt.Fprintf(&b, "\n---\n{type: MeshCircuitBreaker, name: p%d, spec: {targetRef: {kind: MeshSubset, tags: {t%d: a}}, to: [{default: {%s}}]}}", i, i, circuitBreakerFields[i])
		}
		return b.String()
	}
	destination := mesh + `---
{type: MeshService, name: db, spec: {selector: {dataplaneTags: {kuma.io/service: db}}, ports: [{port: 80}]}, status: {vips: [{ip: 241.0.0.1}]}}
---
{type: Dataplane, name: web-3, networking: {address: 10.0.0.4, outbound: [{port: 1000, backendRef: {kind: MeshService, name: db, port: 80}}]}}`
	for _, c := range []struct {
		rule, documents, kind, outbound string
		want                            string
		notFound                        bool
	}{
		{"a kind without confs for outbounds", mesh, "MeshTrace", "api", "MeshTrace has no confs for outbounds", false},
		{"a similar name", mesh, "MeshTimeout", "apj", `no dataplane of mesh "default" has an outbound to "apj"; did you mean "api"?`, true},
		{"another name", mesh, "MeshTimeout", "payments", `no dataplane of mesh "default" has an outbound to "payments"; one of "api"`, true},
		{"an outbound without tags", destination, "MeshTimeout", "db", "have no tags", false},
		{"8,192 variants are too many", policies(13), "MeshCircuitBreaker", "api", "the conf has more than 4096 variants", false},
	} {
		t.Run(c.rule, func(t *testing.T) {
			_, err := new(policyvariants.Index).Ask(coretest.View(t, c.documents), "default", kinds.All().Lookup(c.kind), c.outbound)
			switch {
			case c.want == "":
				if err != nil {
					t.Error(err)
				}
			case err == nil || !strings.Contains(err.Error(), c.want):
				t.Errorf("got the error %v, want %s", err, c.want)
			case errors.Is(err, find.ErrNotFound) != c.notFound:
				t.Errorf("the error is a find.ErrNotFound: %t, want %t", !c.notFound, c.notFound)
			}
		})
	}
}

// circuitBreakerFields are fields of MeshCircuitBreaker. No field sets another one.
var circuitBreakerFields = []string{
	"connectionLimits: {maxConnections: 1}", "connectionLimits: {maxPendingRequests: 1}", "connectionLimits: {maxRequests: 1}", "connectionLimits: {maxRetries: 1}", "connectionLimits: {maxConnectionPools: 1}",
	"outlierDetection: {interval: 6s, disabled: false, detectors: {successRate: {}}}", "outlierDetection: {baseEjectionTime: 7s, detectors: {successRate: {}}}", "outlierDetection: {maxEjectionPercent: 8, detectors: {successRate: {}}}",
	"outlierDetection: {splitExternalAndLocalErrors: true, detectors: {successRate: {}}}", "outlierDetection: {detectors: {totalFailures: {consecutive: 9}}}", "outlierDetection: {detectors: {gatewayFailures: {consecutive: 9}}}",
	"outlierDetection: {detectors: {localOriginFailures: {consecutive: 9}}}", "outlierDetection: {healthyPanicThreshold: 5, detectors: {successRate: {}}}",
}
