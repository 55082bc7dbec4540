package why_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/why"
	"github.com/meshmatch/meshmatch/core/internal/resourcetest"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// whyOf returns the effect of the policy p on the dataplane web. The documents have both.
func whyOf(t *testing.T, by semantics.Semantics, q why.Query, documents ...string) *why.Policy {
	t.Helper()
	view, err := core.Options{Semantics: by}.NewView(t.Context(), kinds.All(), resourcetest.Decode(t, strings.Join(documents, "\n---\n")))
	if err != nil {
		t.Fatal(err)
	}
	named := func(m *resource.Meta, name string) bool { return m.DisplayName() == name }
	policies, dataplanes := view.Policies("default"), view.Dataplanes("default")
	p := policies[slices.IndexFunc(policies, func(p *resource.Policy) bool { return named(&p.Meta, "p") })]
	d := dataplanes[slices.IndexFunc(dataplanes, func(d *resource.Dataplane) bool { return named(&d.Meta, "web") })]
	q.Kind = p.Type
	answer, err := why.NewPolicy(t.Context(), view, d, p, &q)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// The first condition that fails, with the value of the dataplane; null if there is none (SPEC 13.4).
func TestConditions(t *testing.T) {
	const (
		none     = "" // the conditions have no value of the dataplane
		spec     = ", to: [{default: {http: {numRetries: 1}}}]}}"
		east     = "labels: {kuma.io/zone: east, kuma.io/origin: zone, kuma.io/display-name: p}"
		owner    = "labels: {kuma.io/zone: east, kuma.io/origin: zone, kuma.io/display-name: p, k8s.kuma.io/namespace: shop, kuma.io/policy-role: workload-owner}"
		zoned    = "{type: Dataplane, name: web, labels: {kuma.io/zone: %s, kuma.io/origin: zone, k8s.kuma.io/namespace: %s}, networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: web}}], transparentProxying: {redirectPortInbound: 15006, redirectPortOutbound: 15001}}}"
		database = "{type: MeshService, name: db, labels: {kuma.io/zone: %s, kuma.io/origin: zone, kuma.io/display-name: db}, spec: {selector: {dataplaneTags: {kuma.io/service: db}}, ports: [{port: 80, name: sql}]}, status: {vips: [{ip: 241.0.0.1}]}}"
	)
	in := func(document string, values ...string) string {
		for _, value := range values {
			document = strings.Replace(document, "%s", value, 1)
		}
		return document
	}
	for _, c := range []struct {
		rule              string
		by                semantics.Semantics
		documents         []string
		policy            string
		query             why.Query
		field, want, have string
	}{
		{"the name", semantics.TargetRef, []string{workload}, "{type: MeshRetry, name: p, spec: {targetRef: {kind: Dataplane, name: api}" + spec, why.Query{}, "spec.targetRef.name", "api", "web"},
		{"a label that it lacks", semantics.TargetRef, []string{workload}, "{type: MeshRetry, name: p, spec: {targetRef: {kind: Dataplane, labels: {tier: front}}" + spec, why.Query{}, "spec.targetRef.labels.tier", "front", none},
		{"a tag", semantics.TargetRef, []string{workload}, "{type: MeshRetry, name: p, spec: {targetRef: {kind: MeshSubset, tags: {version: v2}}" + spec, why.Query{}, "spec.targetRef.tags.version", "v2", "v1"},
		{"a key of a tag", semantics.TargetRef, []string{workload}, "{type: MeshRetry, name: p, spec: {targetRef: {kind: MeshServiceSubset, name: web, tags: {zone: '*'}}" + spec, why.Query{}, "spec.targetRef.tags.zone", "*", none},
		{"the service", semantics.TargetRef, []string{workload}, "{type: MeshRetry, name: p, spec: {targetRef: {kind: MeshService, name: api}" + spec, why.Query{}, "spec.targetRef.name", "api", "web"},
		{"the section", semantics.TargetRef, []string{workload}, "{type: MeshRetry, name: p, spec: {targetRef: {kind: Dataplane, sectionName: grpc}" + spec, why.Query{}, "spec.targetRef.sectionName", "grpc", "http"},
		{"the type of the proxy", semantics.TargetRef, []string{workload}, "{type: MeshRetry, name: p, spec: {targetRef: {kind: Mesh, proxyTypes: [Gateway]}" + spec, why.Query{}, "spec.targetRef.proxyTypes", "Gateway", "Sidecar"},
		{"a route that it does not use", semantics.TargetRef, []string{workload}, "{type: MeshRetry, name: p, spec: {targetRef: {kind: MeshHTTPRoute, name: r}" + spec, why.Query{}, "spec.targetRef.name", "r", none},
		{"17.1: the zone of the policy", semantics.Kuma, []string{in(zoned, "west", "shop")}, "{type: MeshRetry, name: p-1, " + east + ", spec: {targetRef: {kind: Mesh}" + spec, why.Query{}, "metadata.labels.kuma.io/zone", "east", "west"},
		{"17.1: the namespace of the policy", semantics.Kuma, []string{in(zoned, "east", "other")}, "{type: MeshTimeout, name: p-1, " + owner + ", spec: {rules: [{default: {idleTimeout: 1s}}]}}", why.Query{}, "metadata.namespace", "shop", "other"},
		{"the tag of an outbound", semantics.TargetRef, []string{workload}, "{type: MeshRetry, name: p, spec: {to: [{targetRef: {kind: MeshServiceSubset, name: a, tags: {version: v9}}, default: {http: {numRetries: 1}}}]}}", why.Query{},
			"spec.to[0].targetRef.tags.version", "v9", none},
		{"the outbound that is asked for", semantics.TargetRef, []string{workload}, "{type: MeshRetry, name: p, spec: {to: [{targetRef: {kind: MeshService, name: a}, default: {http: {numRetries: 1}}}]}}", why.Query{Outbound: "b"},
			"spec.to[0].targetRef.name", "a", "b"},
		{"the item that meets most conditions", semantics.TargetRef, []string{workload},
			"{type: MeshRetry, name: p, spec: {to: [{targetRef: {kind: MeshServiceSubset, name: c, tags: {version: v9}}, default: {http: {numRetries: 1}}}, {targetRef: {kind: MeshServiceSubset, name: b, tags: {version: v9}}, default: {http: {numRetries: 1}}}]}}", why.Query{},
			"spec.to[1].targetRef.tags.version", "v9", none},
		{"a route of an item", semantics.TargetRef, []string{workload}, "{type: MeshTimeout, name: p, spec: {to: [{targetRef: {kind: MeshHTTPRoute, name: r}, default: {http: {requestTimeout: 1s}}}]}}", why.Query{}, "spec.to[0].targetRef.name", "r", none},
		{"17.3: the kind of a destination", semantics.Kuma, []string{in(zoned, "east", "shop"), in(database, "east")},
			"{type: MeshRetry, name: p, spec: {to: [{targetRef: {kind: MeshExternalService, name: db}, default: {http: {numRetries: 1}}}]}}", why.Query{}, "spec.to[0].targetRef.kind", "MeshExternalService", "MeshService"},
		{"17.3: a label of a destination", semantics.Kuma, []string{in(zoned, "east", "shop"), in(database, "east")},
			"{type: MeshRetry, name: p, spec: {to: [{targetRef: {kind: MeshService, labels: {kuma.io/zone: west}}, default: {http: {numRetries: 1}}}]}}", why.Query{}, "spec.to[0].targetRef.labels.kuma.io/zone", "west", "east"},
		{"17.3: the port of a destination", semantics.Kuma, []string{in(zoned, "east", "shop"), in(database, "east")},
			"{type: MeshRetry, name: p, spec: {to: [{targetRef: {kind: MeshService, name: db, sectionName: http}, default: {http: {numRetries: 1}}}]}}", why.Query{}, "spec.to[0].targetRef.sectionName", "http", "sql"},
		{"17.3: a name finds in the zone of the policy", semantics.Kuma, []string{in(zoned, "east", "shop"), in(database, "west")},
			"{type: MeshRetry, name: p-1, " + east + ", spec: {to: [{targetRef: {kind: MeshService, name: db}, default: {http: {numRetries: 1}}}]}}", why.Query{}, "spec.to[0].targetRef.name", "db of zone east", "db of zone west"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			a := whyOf(t, c.by, c.query, append(c.documents, c.policy)...)
			if a.Condition == nil {
				t.Fatalf("the answer %s (%s) has no condition", a.Answer, a.Reason)
			}
			have := none
			if a.Condition.Have != nil {
				have = *a.Condition.Have
			}
			if got, want := [3]string{a.Condition.Field, a.Condition.Want, have}, [3]string{c.field, c.want, c.have}; got != want {
				t.Errorf("%s: got the field, the value that is wanted and the one of the dataplane %q, want %q", a.Answer, got, want)
			}
		})
	}
}

// What holds in place of rules, clients and entries (SPEC 13.4): fields of p that hold, and those
// that another policy overrides.
func TestOverridden(t *testing.T) {
	const (
		ids   = "{type: MeshIdentity, name: ids, spec: {selector: {dataplane: {matchLabels: {}}}, spiffeID: {trustDomain: td, path: /web}, provider: {type: Spire}}}"
		fault = "default: {http: [{abort: {httpStatus: 500, percentage: 1}}]}"
		other = "default: {http: [{abort: {httpStatus: 501, percentage: 1}}]}"
		one   = "matches: [{spiffeId: {type: Exact, value: spiffe://td/a}}], "
		two   = "matches: [{spiffeId: {type: Exact, value: spiffe://td/b}}], "
	)
	for _, c := range []struct {
		rule, p, q string
		effect     why.Effect
		want       string
	}{
		{"rules with the same match", "{type: MeshFaultInjection, name: p, spec: {rules: [{" + one + fault + "}]}}", "{type: MeshFaultInjection, name: q, spec: {rules: [{" + one + other + "}]}}", why.Overridden, "/http by q"},
		{"rules with other matches", "{type: MeshFaultInjection, name: p, spec: {rules: [{" + one + fault + "}]}}", "{type: MeshFaultInjection, name: q, spec: {rules: [{" + two + other + "}]}}", why.Applies, "/http"},
		{"7.1: a rule with more matches is not merged with it", "{type: MeshFaultInjection, name: p, spec: {rules: [{" + one + fault + "}]}}",
			"{type: MeshFaultInjection, name: q, spec: {rules: [{matches: [{spiffeId: {type: Exact, value: spiffe://td/a}}, {method: GET}], default: {}}]}}", why.Overridden, "/http by q"},
		{"items for all clients", "{type: MeshFaultInjection, name: p, spec: {from: [{" + fault + "}]}}", "{type: MeshFaultInjection, name: q, spec: {from: [{" + other + "}]}}", why.Overridden, "/http by q"},
		{"an item for some clients leaves others", "{type: MeshFaultInjection, name: p, spec: {from: [{" + fault + "}]}}",
			"{type: MeshFaultInjection, name: q, spec: {from: [{targetRef: {kind: MeshSubset, tags: {version: v1}}, " + other + "}]}}", why.Applies, "/http"},
		{"the clients of the item have another item", "{type: MeshFaultInjection, name: p, spec: {from: [{targetRef: {kind: MeshSubset, tags: {version: v1}}, " + fault + "}]}}",
			"{type: MeshFaultInjection, name: q, spec: {from: [{" + other + "}]}}", why.Overridden, "/http by q"},
		{"an entry that decides", "{type: MeshTrafficPermission, name: p, spec: {rules: [{default: {allow: [{method: GET}]}}]}}",
			"{type: MeshTrafficPermission, name: q, spec: {rules: [{default: {deny: [{path: {type: Prefix, value: /admin}}]}}]}}", why.Applies, "/allow/0"},
		{"an entry whose requests a denial decides", "{type: MeshTrafficPermission, name: p, spec: {rules: [{default: {allow: [{method: GET, path: {type: Exact, value: /admin/a}}]}}]}}",
			"{type: MeshTrafficPermission, name: q, spec: {rules: [{default: {deny: [{path: {type: Prefix, value: /admin}}]}}]}}", why.Overridden, "/allow/0 by q"},
		{"one of two entries decides", "{type: MeshTrafficPermission, name: p, spec: {rules: [{default: {allow: [{method: GET, path: {type: Exact, value: /admin/a}}, {method: PUT}]}}]}}",
			"{type: MeshTrafficPermission, name: q, spec: {rules: [{default: {deny: [{path: {type: Prefix, value: /admin}}]}}]}}", why.Applies, "/allow/1; /allow/0 by q"},
		{"an entry that decides in the shadow decision", "{type: MeshTrafficPermission, name: p, spec: {rules: [{default: {allowWithShadowDeny: [{method: GET}]}}]}}",
			"{type: MeshTrafficPermission, name: q, spec: {rules: [{default: {allow: [{path: {type: Prefix, value: /}}]}}]}}", why.Applies, "/allowWithShadowDeny/0"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			a := whyOf(t, semantics.TargetRef, why.Query{}, workload, ids, c.p, c.q)
			if got := summary(a); a.Answer != c.effect || got != c.want {
				t.Errorf("got %s: %s, want %s: %s", a.Answer, got, c.effect, c.want)
			}
		})
	}
}

// The reason why a policy that selects the dataplane has no effect (SPEC 13.4).
func TestReasons(t *testing.T) {
	const (
		permission = "{type: MeshTrafficPermission, name: p, spec: {rules: [{default: {allow: [{method: GET}]}}]}}"
		from       = "{type: MeshTimeout, name: p, spec: {from: [{default: {idleTimeout: 1s}}]}}"
		rules      = "{type: MeshTimeout, name: q, spec: {rules: [{default: {idleTimeout: 1s}}]}}"
	)
	for _, c := range []struct {
		rule     string
		by       semantics.Semantics
		query    why.Query
		policies []string
		want     string
	}{
		{"no outbound", semantics.TargetRef, why.Query{}, []string{"{type: MeshRetry, name: p, spec: {to: [{targetRef: {kind: MeshService, name: other}, default: {http: {numRetries: 1}}}]}}"}, "no item selects an outbound of the dataplane"},
		{"another part", semantics.TargetRef, why.Query{Inbound: "http"}, []string{"{type: MeshTimeout, name: p, spec: {to: [{default: {idleTimeout: 1s}}]}}"}, "it has no field for this part"},
		{"2.4: listeners of a gateway", semantics.TargetRef, why.Query{}, []string{"{type: MeshFaultInjection, name: p, spec: {to: [{default: {http: [{abort: {httpStatus: 500, percentage: 1}}]}}]}}"}, "its `to` is for the listeners of a builtin gateway"},
		{"5.6: from beside rules", semantics.TargetRef, why.Query{}, []string{from, rules}, "`from` has no effect on an inbound for which other policies have rules"},
		{"17.1: Kuma 3 reads no from", semantics.Kuma3, why.Query{}, []string{from}, "`from` is not read, only rules are"},
		{"17.1: permissions without an identity", semantics.Kuma, why.Query{}, []string{permission}, "no MeshTrafficPermission is applied to a dataplane without identity"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			a := whyOf(t, c.by, c.query, append([]string{workload}, c.policies...)...)
			if a.Answer != why.WithoutAny || !strings.HasPrefix(a.Reason, c.want) {
				t.Errorf("got %s: %s, want %s: %s", a.Answer, a.Reason, why.WithoutAny, c.want)
			}
		})
	}
}

// A field that refers to a collector has the collector, or null if it finds none (SPEC 17.3).
func TestCollectors(t *testing.T) {
	const collector = "{type: MeshOpenTelemetryBackend, name: otel, spec: {endpoint: {address: otel.example, port: 4318}}}"
	log := func(name string) string {
		return "{type: MeshAccessLog, name: p, spec: {to: [{default: {backends: [{type: OpenTelemetry, openTelemetry: {backendRef: {kind: MeshOpenTelemetryBackend, name: " + name + "}}}]}}]}}"
	}
	for name, want := range map[string]string{"otel": "otel.example:4318", "gone": ""} {
		a := whyOf(t, semantics.TargetRef, why.Query{}, workload, collector, log(name))
		if got := slices.Collect(maps.Keys(a.Collectors)); !slices.Equal(got, []string{"/backends/0/openTelemetry/backendRef"}) {
			t.Errorf("%s: references %q", name, got)
			continue
		}
		got := ""
		if found := a.Collectors["/backends/0/openTelemetry/backendRef"]; found != nil {
			got = found.Endpoint
		}
		if got != want {
			t.Errorf("%s: got the endpoint %q, want %q", name, got, want)
		}
	}
}

// The nearest dataplane that a policy selects has the same namespace and the most labels and tags in
// common with the one that it does not select (SPEC 13.4).
func TestNearest(t *testing.T) {
	const policy = "{type: MeshRetry, name: p, spec: {targetRef: {kind: Dataplane, labels: {canary: 'yes'}}, to: [{default: {http: {numRetries: 1}}}]}}"
	other := func(name, namespace, labels, tags string) string {
		return "{apiVersion: kuma.io/v1alpha1, kind: Dataplane, mesh: default, metadata: {name: " + name + ", namespace: " + namespace + ", labels: {canary: 'yes'" + labels + "}}, spec: {networking: {address: 10.0.1.1, inbound: [{port: 80, tags: {kuma.io/service: x" + tags + "}}]}}}"
	}
	const web = "{apiVersion: kuma.io/v1alpha1, kind: Dataplane, mesh: default, metadata: {name: web, namespace: shop, labels: {app: web, tier: front}}, spec: {networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: web, version: v1}}]}}}"
	for _, c := range []struct {
		rule string
		a, b string
		want string
	}{
		{"more labels", other("a", "shop", ", app: web", ""), other("b", "shop", ", app: web, tier: front", ""), "b"},
		{"more tags", other("a", "shop", "", ", version: v1"), other("b", "shop", "", ", version: v2"), "a"},
		{"the namespace before labels", other("a", "test", ", app: web, tier: front", ""), other("b", "shop", "", ""), "b"},
	} {
		a := whyOf(t, semantics.TargetRef, why.Query{}, web, c.a, c.b, policy)
		if a.Nearest == nil || !strings.Contains(a.Nearest.Dataplane, "_"+c.want+"_") {
			t.Errorf("%s: got %+v, want %s", c.rule, a.Nearest, c.want)
		}
	}
}
