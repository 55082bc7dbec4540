package kinds_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// The tables of SPEC 2.4, with a conf that each array of the kind can have.
var places = map[string]struct{ arrays, conf, rule string }{
	"MeshTimeout":               {"to from rules", `{idleTimeout: 1s}`, ""},
	"MeshCircuitBreaker":        {"to from rules", `{connectionLimits: {maxConnections: 1}}`, ""},
	"MeshAccessLog":             {"to from rules", `{backends: []}`, ""},
	"MeshRateLimit":             {"from rules to", `{local: {http: {disabled: true}}}`, ""},
	"MeshFaultInjection":        {"from rules to", `{http: [{abort: {httpStatus: 503, percentage: 1}}]}`, ""},
	"MeshTrafficPermission":     {"from rules", `{action: Allow}`, `{allow: [{method: GET}]}`},
	"MeshTLS":                   {"from rules", `{mode: Strict}`, ""},
	"MeshRetry":                 {"to", `{tcp: {maxConnectAttempt: 1}}`, ""},
	"MeshHealthCheck":           {"to", `{tcp: {}}`, ""},
	"MeshLoadBalancingStrategy": {"to", `{loadBalancer: {type: Random}}`, ""},
	"MeshHTTPRoute":             {"to", `rules: [{matches: [{}], default: {}}]`, ""},
	"MeshTCPRoute":              {"to", `rules: [{default: {backendRefs: [{kind: MeshService, name: a}]}}]`, ""},
	"MeshTrace":                 {"default", `{backends: []}`, ""},
	"MeshMetric":                {"default", `{applications: []}`, ""},
	"MeshProxyPatch":            {"default", `{appendModifications: [{cluster: {operation: Remove}}]}`, ""},
	"MeshPassthrough":           {"default", `{passthroughMode: All}`, ""},
}

// references has a targetRef of each kind.
var references = map[string]string{
	"Mesh": `{kind: Mesh}`, "Dataplane": `{kind: Dataplane, labels: {a: b}}`, "MeshSubset": `{kind: MeshSubset, tags: {a: b}}`,
	"MeshService": `{kind: MeshService, name: a}`, "MeshServiceSubset": `{kind: MeshServiceSubset, name: a, tags: {a: b}}`,
	"MeshGateway":   `{kind: MeshGateway, name: a}`,
	"MeshHTTPRoute": `{kind: MeshHTTPRoute, name: a}`, "MeshTCPRoute": `{kind: MeshTCPRoute, name: a}`,
	"MeshExternalService": `{kind: MeshExternalService, name: a}`, "MeshMultiZoneService": `{kind: MeshMultiZoneService, name: a}`,
}

const (
	routeTargets = "MeshTimeout MeshRetry MeshRateLimit MeshAccessLog MeshLoadBalancingStrategy"
	topTargets   = "Mesh Dataplane MeshSubset MeshService MeshServiceSubset MeshGateway"
	topRoutes    = "MeshHTTPRoute MeshTCPRoute"
	fromTargets  = "Mesh MeshSubset MeshService MeshServiceSubset"
	toTargets    = "Mesh MeshService MeshServiceSubset MeshExternalService MeshMultiZoneService MeshHTTPRoute"
)

func has(words, word string) bool { return slices.Contains(strings.Fields(words), word) }

// hasListeners reports whether the `to` of a kind is for the listeners of gateways.
func hasListeners(kind string) bool { return kind == "MeshRateLimit" || kind == "MeshFaultInjection" }

// allows reports whether SPEC 2.4 allows a targetRef of a kind at a place.
func allows(kind, place, target string) bool {
	isRoute := kind == "MeshHTTPRoute" || kind == "MeshTCPRoute"
	switch place {
	case "top":
		return has(topTargets, target) || has(topRoutes, target) && has(routeTargets, kind)
	case "from":
		return has(fromTargets, target)
	}
	if hasListeners(kind) {
		return target == "Mesh"
	}
	return has(toTargets, target) && !(isRoute && (target == "Mesh" || target == "MeshHTTPRoute"))
}

func spec(kind, array, top, item string) string {
	p := places[kind]
	conf := "default: " + p.conf
	switch {
	case strings.HasPrefix(p.conf, "rules:"):
		conf = p.conf
	case array == "rules" && p.rule != "":
		conf = "default: " + p.rule
	}
	switch array {
	case "default":
		return fmt.Sprintf("{targetRef: %s, %s}", top, conf)
	case "rules":
		return fmt.Sprintf("{targetRef: %s, rules: [{%s}]}", top, conf)
	}
	return fmt.Sprintf("{targetRef: %s, %s: [{targetRef: %s, %s}]}", top, array, item, conf)
}

func load(kind, spec string) error {
	loader := resource.Loader{Kinds: kinds.All()}
	document := fmt.Sprintf("{type: %s, mesh: default, name: p, spec: %s}", kind, spec)
	_, err := loader.Decode(context.Background(), resource.Input{Name: "p.yaml", Data: []byte(document)})
	return err
}

// Each kind has the arrays and the targetRefs of SPEC 2.4. Any other is an error that
// names its place.
func TestPlacesOfEachKind(t *testing.T) {
	if len(places) != len(kinds.All().All()) {
		t.Errorf("%d kinds have places, of %d", len(places), len(kinds.All().All()))
	}
	for kind, p := range places {
		t.Run(kind, func(t *testing.T) {
			check := func(place, spec string, valid bool) {
				t.Helper()
				switch err := load(kind, spec); {
				case valid && err != nil:
					t.Errorf("%s: %v", spec, err)
				case !valid && (err == nil || !strings.Contains(err.Error(), place)):
					t.Errorf("%s: error %v, want one at %s", spec, err, place)
				}
			}
			for _, array := range []string{"to", "from", "rules", "default"} {
				item := references["MeshService"]
				if array == "to" && hasListeners(kind) {
					item = references["Mesh"]
				}
				sugar := array == "default" && has(p.arrays, "rules") // one rule without matches (SPEC 2.3)
				if sugar && p.rule != "" || array == "default" && strings.HasPrefix(p.conf, "rules:") {
					continue // the conf of an item is not valid as a default
				}
				check("spec."+array, spec(kind, array, references["Mesh"], item), has(p.arrays, array) || sugar)
			}
			first := strings.Fields(p.arrays)[0]
			for target, ref := range references {
				check("spec.targetRef.kind", spec(kind, first, ref, references["MeshService"]), allows(kind, "top", target))
				for _, array := range []string{"to", "from"} {
					if has(p.arrays, array) {
						check("spec."+array+"[0].targetRef.kind", spec(kind, array, references["Mesh"], ref), allows(kind, array, target))
					}
				}
			}
		})
	}
}

// The `to` of MeshRateLimit and MeshFaultInjection belongs to policies that include
// gateways (SPEC 2.4).
func TestTopTargetsOfItemsForListeners(t *testing.T) {
	for top, valid := range map[string]bool{
		`{kind: Mesh}`:                                            true,
		`{kind: Mesh, proxyTypes: [Gateway]}`:                     true,
		`{kind: Mesh, proxyTypes: [Gateway, Sidecar]}`:            true,
		`{kind: Mesh, proxyTypes: [Sidecar]}`:                     false,
		`{kind: MeshSubset, tags: {a: b}}`:                        true,
		`{kind: MeshSubset, proxyTypes: [Gateway]}`:               true,
		`{kind: MeshSubset, tags: {a: b}, proxyTypes: [Sidecar]}`: false,
		`{kind: MeshGateway, name: g}`:                            true,
		`{kind: MeshService, name: s}`:                            false,
		`{kind: MeshServiceSubset, name: s, tags: {a: b}}`:        false,
		`{kind: Dataplane}`:                                       false,
	} {
		for _, kind := range []string{"MeshRateLimit", "MeshFaultInjection"} {
			switch err := load(kind, spec(kind, "to", top, `{kind: Mesh}`)); {
			case valid && err != nil:
				t.Errorf("%s with %s: %v", kind, top, err)
			case !valid && (err == nil || !strings.Contains(err.Error(), "only a policy that includes gateways has to")):
				t.Errorf("%s with %s: error %v", kind, top, err)
			}
		}
	}
}
