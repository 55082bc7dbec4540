package rules_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/conf/kinds"
	"github.com/meshmatch/meshmatch/core/conf/meshloadbalancingstrategy"
	"github.com/meshmatch/meshmatch/core/conf/meshtimeout"
	"github.com/meshmatch/meshmatch/core/partition"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// dataplane has a TCP and an HTTP inbound and four outbounds.
const dataplane = `
type: Dataplane
name: web-1
networking:
  address: 10.0.0.1
  inbound:
    - {name: http, port: 80, protocol: http, tags: {kuma.io/service: web, version: v1}}
    - {port: 81, tags: {kuma.io/service: admin}}
  outbound:
    - {port: 1, tags: {kuma.io/service: backend}}
    - {port: 2, tags: {kuma.io/service: backend, version: v2}}
    - {port: 3, tags: {kuma.io/service: payments}}
    - {port: 4, tags: {kuma.io/service: other}}
---
`

// config evaluates one kind for the dataplane above.
func config(t *testing.T, kind, policies string) *rules.Config {
	t.Helper()
	loader := resource.Loader{Kinds: kinds.All()}
	set, err := loader.Decode(resource.Input{Name: "test.yaml", Data: []byte(dataplane + policies)})
	if err != nil {
		t.Fatal(err)
	}
	view, err := core.NewView(loader.Kinds, set)
	if err != nil {
		t.Fatal(err)
	}
	configs := view.Configs(view.Dataplanes("default")[0], core.Scope{Kind: kind})
	if len(configs) != 1 {
		t.Fatalf("%d configs of %s", len(configs), kind)
	}
	return configs[0]
}

// show prints a conf and its origins: {...} by a[0] b[1].
func show(t *testing.T, e *rules.Effective) string {
	t.Helper()
	if e == nil {
		return "nothing"
	}
	data, err := json.Marshal(e.Conf)
	if err != nil {
		t.Fatal(err)
	}
	var origins []string
	for _, o := range e.Origins {
		origins = append(origins, fmt.Sprintf("%s[%d]", o.Policy.Name, o.Index))
	}
	return string(data) + " by " + strings.Join(origins, " ")
}

const timeouts = `
type: MeshTimeout
name: a-mesh
spec:
  to:
    - default: {connectionTimeout: 1s, idleTimeout: 1h}
    - targetRef: {kind: MeshService, name: backend}
      default: {connectionTimeout: 2s, http: {requestTimeout: 2s}}
    - targetRef: {kind: MeshServiceSubset, name: backend, tags: {version: v2}}
      default: {http: {requestTimeout: 3s}}
    - targetRef: {kind: MeshServiceSubset, name: payments, tags: {region: "*"}}
      default: {connectionTimeout: 4s}
---
type: MeshTimeout
name: z-mesh
spec:
  to:
    - default: {idleTimeout: 5s}
`

func TestOutbounds(t *testing.T) {
	c := config(t, "MeshTimeout", timeouts)
	want := []string{
		`{"connectionTimeout":"2s","idleTimeout":"5s","http":{"requestTimeout":"2s"}} by a-mesh[1] z-mesh[0]`,
		`{"connectionTimeout":"2s","idleTimeout":"5s","http":{"requestTimeout":"3s"}} by a-mesh[1] a-mesh[2] z-mesh[0]`,
		`{"connectionTimeout":"1s","idleTimeout":"5s"} by a-mesh[0] z-mesh[0]`,
		`{"connectionTimeout":"1s","idleTimeout":"5s"} by a-mesh[0] z-mesh[0]`,
	}
	for i := range want {
		if got := show(t, c.Outbounds[i].Effective); got != want[i] {
			t.Errorf("outbound %d: got\n%s want\n%s", i, got, want[i])
		}
	}
	fields := map[string]string{}
	for pointer, o := range c.Outbounds[1].Fields() {
		fields[pointer] = fmt.Sprintf("%s[%d]", o.Policy.Name, o.Index)
	}
	if diff := cmp.Diff(map[string]string{"/connectionTimeout": "a-mesh[1]", "/http/requestTimeout": "a-mesh[2]", "/idleTimeout": "z-mesh[0]"}, fields); diff != "" {
		t.Error(diff)
	}
}

func TestRulesOfOutbounds(t *testing.T) {
	c := config(t, "MeshTimeout", timeouts)
	view, err := rules.ToRules(c.Kind, []*resource.Policy{c.Matched.At(0).Policy, c.Matched.At(1).Policy}, partition.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range view {
		got = append(got, r.Selector.String()+" "+show(t, r.Effective))
	}
	want := []string{
		`kuma.io/service=payments,region=* {"connectionTimeout":"4s","idleTimeout":"5s"} by a-mesh[3] z-mesh[0]`,
		`kuma.io/service=backend,version=v2 {"connectionTimeout":"2s","idleTimeout":"5s","http":{"requestTimeout":"3s"}} by a-mesh[1] a-mesh[2] z-mesh[0]`,
		`kuma.io/service=backend {"connectionTimeout":"2s","idleTimeout":"5s","http":{"requestTimeout":"2s"}} by a-mesh[1] z-mesh[0]`,
		`{} {"connectionTimeout":"1s","idleTimeout":"5s"} by a-mesh[0] z-mesh[0]`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestOutboundWithoutItems(t *testing.T) {
	c := config(t, "MeshTimeout", `
type: MeshTimeout
name: p
spec:
  to:
    - targetRef: {kind: MeshService, name: backend}
      default: {}
`)
	for i, want := range []string{"{} by ", "{} by ", "nothing", "nothing"} {
		if got := show(t, c.Outbounds[i].Effective); got != want {
			t.Errorf("outbound %d: got %s, want %s", i, got, want)
		}
	}
}

func TestRoutes(t *testing.T) {
	c := config(t, "MeshTimeout", `
type: MeshHTTPRoute
name: info
spec:
  to:
    - targetRef: {kind: MeshService, name: backend}
      rules: [{matches: [{path: {type: Exact, value: /info}}], default: {}}]
---
type: MeshHTTPRoute
name: only-v2
spec:
  to:
    - targetRef: {kind: MeshServiceSubset, name: backend, tags: {version: v2}}
      rules: [{matches: [{path: {type: Exact, value: /v2}}], default: {}}]
---
type: MeshTimeout
name: a
spec:
  to:
    - default: {connectionTimeout: 1s}
    - targetRef: {kind: MeshHTTPRoute, name: info}
      default: {http: {requestTimeout: 2s}}
---
type: MeshTimeout
name: attached
spec:
  targetRef: {kind: MeshHTTPRoute, name: only-v2}
  to:
    - default: {idleTimeout: 3s}
  rules:
    - default: {idleTimeout: 9s}
`)
	var got []string
	for i, o := range c.Outbounds {
		got = append(got, fmt.Sprintf("%d %s", i, show(t, o.Effective)))
		for _, r := range o.Routes {
			got = append(got, fmt.Sprintf("%d %s %s", i, r.Route.Name, show(t, r.Effective)))
		}
	}
	want := []string{
		`0 {"connectionTimeout":"1s"} by a[0]`,
		`0 info {"connectionTimeout":"1s","http":{"requestTimeout":"2s"}} by a[0] a[1]`,
		`1 {"connectionTimeout":"1s"} by a[0]`,
		`1 info {"connectionTimeout":"1s","http":{"requestTimeout":"2s"}} by a[0] a[1]`,
		`1 only-v2 {"connectionTimeout":"1s","idleTimeout":"3s"} by a[0] attached[0]`,
		`2 {"connectionTimeout":"1s"} by a[0]`,
		`3 {"connectionTimeout":"1s"} by a[0]`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for i, in := range c.Inbounds {
		if len(in.Rules) != 0 {
			t.Errorf("inbound %d has rules of a policy that is attached to a route", i)
		}
	}
}

// A kind may have other targets in `to` than SPEC 2.4 gives to ours.
func TestTargetsOfAnEmbeddersKind(t *testing.T) {
	kind := &resource.Kind{
		Name: "Patience", Short: "p", Top: resource.TopTargets,
		To: &resource.Section{
			Targets: resource.ToTargets | resource.Targets(resource.TargetMeshSubset, resource.TargetMeshTCPRoute),
			Conf:    meshtimeout.Kind().To.Conf,
		},
	}
	loader := resource.Loader{Kinds: resource.NewKinds(append(kinds.BuiltIn(), kind)...)}
	set, err := loader.Decode(resource.Input{Name: "test.yaml", Data: []byte(dataplane + `
type: MeshTCPRoute
name: r
spec: {to: [{targetRef: {kind: MeshService, name: payments}, rules: []}]}
---
type: MeshHTTPRoute
name: r
spec: {to: [{targetRef: {kind: MeshService, name: payments}, rules: []}]}
---
type: Patience
name: a
spec:
  to:
    - {targetRef: {kind: MeshSubset, tags: {version: v2}}, default: {connectionTimeout: 1s}}
    - {targetRef: {kind: MeshSubset, tags: {version: v1}}, default: {connectionTimeout: 2s}}
    - {targetRef: {kind: MeshTCPRoute, name: r}, default: {idleTimeout: 3s}}
`)})
	if err != nil {
		t.Fatal(err)
	}
	view, err := core.NewView(loader.Kinds, set)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range view.Configs(set.Dataplanes[0], core.Scope{Kind: "Patience"})[0].Outbounds {
		got = append(got, show(t, o.Effective))
		for _, r := range o.Routes {
			got = append(got, r.Route.Kind+" "+show(t, r.Effective))
		}
	}
	want := []string{
		"nothing",
		`{"connectionTimeout":"1s"} by a[0]`,
		"nothing", "MeshHTTPRoute nothing", `MeshTCPRoute {"idleTimeout":"3s"} by a[2]`,
		"nothing",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestInboundRules(t *testing.T) {
	c := config(t, "MeshTimeout", `
type: MeshTimeout
name: a
spec:
  rules:
    - default: {idleTimeout: 1s}
    - matches: [{method: GET}, {path: {type: Prefix, value: /a}}]
      default: {idleTimeout: 2s, connectionTimeout: 2s}
    - matches: [{headers: [{name: X-One, value: "1"}, {name: x-two, type: Present}]}]
      default: {idleTimeout: 3s}
---
type: MeshTimeout
name: b
spec:
  targetRef: {kind: Dataplane, name: web-1, sectionName: http}
  rules:
    - matches: [{path: {type: Prefix, value: /a}}, {method: GET}, {method: GET}]
      default: {idleTimeout: 4s}
    - matches:
        - spiffeId: {type: Prefix, value: spiffe://td/ns}
        - spiffeId: {type: Prefix, value: spiffe://td/ns/long}
        - spiffeId: {type: Exact, value: spiffe://td/ns/a}
        - {sni: a.example, path: {type: Exact, value: /}}
        - sni: a.example
        - path: {type: Exact, value: /a}
        - path: {type: RegularExpression, value: /a.*}
        - path: {type: Prefix, value: /a/b}
      default: {idleTimeout: 5s}
    - matches: [{headers: [{type: Present, name: X-TWO}, {type: Exact, name: x-one, value: "1"}]}]
      default: {idleTimeout: 6s}
`)
	var got []string
	for _, r := range c.Inbounds[0].Rules {
		match, err := json.Marshal(r.Match)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(match)+" "+show(t, r.Effective))
	}
	want := []string{
		`{"spiffeId":{"type":"Exact","value":"spiffe://td/ns/a"}} {"idleTimeout":"5s"} by b[1]`,
		`{"spiffeId":{"type":"Prefix","value":"spiffe://td/ns/long"}} {"idleTimeout":"5s"} by b[1]`,
		`{"spiffeId":{"type":"Prefix","value":"spiffe://td/ns"}} {"idleTimeout":"5s"} by b[1]`,
		`{"sni":"a.example","path":{"type":"Exact","value":"/"}} {"idleTimeout":"5s"} by b[1]`,
		`{"sni":"a.example"} {"idleTimeout":"5s"} by b[1]`,
		`{"path":{"type":"Exact","value":"/a"}} {"idleTimeout":"5s"} by b[1]`,
		`{"path":{"type":"Prefix","value":"/a/b"}} {"idleTimeout":"5s"} by b[1]`,
		`{"path":{"type":"Prefix","value":"/a"}} {"connectionTimeout":"2s","idleTimeout":"4s"} by a[1] b[0]`,
		`{"path":{"type":"RegularExpression","value":"/a.*"}} {"idleTimeout":"5s"} by b[1]`,
		`{"method":"GET"} {"connectionTimeout":"2s","idleTimeout":"4s"} by a[1] b[0]`,
		`{"method":"GET"} {"connectionTimeout":"2s","idleTimeout":"4s"} by a[1] b[0]`,
		`{"headers":[{"type":"Present","name":"X-TWO"},{"type":"Exact","name":"x-one","value":"1"}]} {"idleTimeout":"6s"} by b[2]`,
		`{} {"idleTimeout":"1s"} by a[0]`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if n := len(c.Inbounds[1].Rules); n != 4 {
		t.Errorf("the inbound that only the first policy selects has %d rules, want 4", n)
	}
}

func TestDefaults(t *testing.T) {
	c := config(t, "MeshProxyPatch", `
type: MeshProxyPatch
name: b
spec:
  targetRef: {kind: MeshService, name: web}
  default: {appendModifications: [{cluster: {operation: Remove, match: {name: b}}}]}
---
type: MeshProxyPatch
name: c
spec:
  default: {appendModifications: [{cluster: {operation: Remove, match: {name: c}}}]}
`)
	want := `{"appendModifications":[{"cluster":{"match":{"name":"c"},"operation":"Remove"}},{"cluster":{"match":{"name":"b"},"operation":"Remove"}}]} by c[0] b[0]`
	if got := show(t, c.Default); got != want {
		t.Errorf("got\n%s want\n%s", got, want)
	}
}

func TestFrom(t *testing.T) {
	const policies = `
type: MeshTimeout
name: a
spec:
  from:
    - default: {idleTimeout: 1s}
    - targetRef: {kind: MeshSubset, tags: {zone: east}}
      default: {connectionTimeout: 2s}
    - targetRef: {kind: MeshServiceSubset, name: x, tags: {kuma.io/service: y}}
      default: {idleTimeout: 9s}
---
type: MeshTimeout
name: b
spec:
  from:
    - targetRef: {kind: MeshService, name: web}
      default: {idleTimeout: 3s}
`
	from := config(t, "MeshTimeout", policies).Inbounds[0].From
	for _, c := range []struct {
		client map[string]string
		want   string
	}{
		{nil, `{"idleTimeout":"1s"} by a[0]`},
		{map[string]string{"zone": "east"}, `{"connectionTimeout":"2s","idleTimeout":"1s"} by a[0] a[1]`},
		{map[string]string{"zone": "west", "kuma.io/service": "web"}, `{"idleTimeout":"3s"} by b[0]`},
		{map[string]string{"zone": "east", "kuma.io/service": "web"}, `{"connectionTimeout":"2s","idleTimeout":"3s"} by a[1] b[0]`},
	} {
		if got := show(t, from.Client(c.client)); got != c.want {
			t.Errorf("client %v: got %s, want %s", c.client, got, c.want)
		}
		disjoint, err := from.Disjoint(partition.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		matching := 0
		for _, r := range disjoint {
			if r.Selector.Matches(c.client) {
				matching++
				if got := show(t, r.Effective); got != c.want {
					t.Errorf("client %v, disjoint rule %s: got %s, want %s", c.client, r.Selector, got, c.want)
				}
			}
		}
		if matching != 1 {
			t.Errorf("client %v: %d disjoint rules", c.client, matching)
		}
		ordered, err := from.Ordered(partition.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range ordered {
			if r.Selector.Matches(c.client) {
				if got := show(t, r.Effective); got != c.want {
					t.Errorf("client %v, first rule %s: got %s, want %s", c.client, r.Selector, got, c.want)
				}
				break
			}
		}
	}
	for name, view := range map[string]func(partition.Limits) ([]rules.SelectorRule, error){"disjoint": from.Disjoint, "ordered": from.Ordered} {
		_, err := view(partition.Limits{Rules: 2})
		var tooMany *rules.TooManyRules
		want := "needs more than 2 rules; the policies b, a differ by the tags kuma.io/service, zone"
		if !errors.As(err, &tooMany) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want one with %q", name, err, want)
		}
	}
}

// An item whose union has another type sets nothing that stays, and still
// hides what lower items say of it.
func TestFromOfAUnion(t *testing.T) {
	kind := &resource.Kind{
		Name: "Balancing", Short: "b", Top: resource.TopTargets,
		From: &resource.Section{Targets: resource.FromTargets, Conf: meshloadbalancingstrategy.Kind().To.Conf},
	}
	loader := resource.Loader{Kinds: resource.NewKinds(kind)}
	set, err := loader.Decode(resource.Input{Name: "test.yaml", Data: []byte(`
type: Balancing
name: p
spec:
  from:
    - default: {loadBalancer: {type: RingHash, ringHash: {minRingSize: 1}}}
    - targetRef: {kind: MeshSubset, tags: {hidden: "*"}}
      default: {loadBalancer: {type: RoundRobin}}
    - default: {loadBalancer: {type: RingHash, ringHash: {maxRingSize: 9}}}
`)})
	if err != nil {
		t.Fatal(err)
	}
	from := rules.NewFrom(kind, set.Policies)
	for _, c := range []struct {
		client map[string]string
		want   string
	}{
		{nil, `{"loadBalancer":{"type":"RingHash","ringHash":{"minRingSize":1,"maxRingSize":9}}} by p[0] p[2]`},
		{map[string]string{"hidden": "yes"}, `{"loadBalancer":{"type":"RingHash","ringHash":{"maxRingSize":9}}} by p[2]`},
	} {
		if got := show(t, from.Client(c.client)); got != c.want {
			t.Errorf("client %v: got %s, want %s", c.client, got, c.want)
		}
		for name, view := range map[string]func(partition.Limits) ([]rules.SelectorRule, error){"disjoint": from.Disjoint, "ordered": from.Ordered} {
			list, err := view(partition.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(list, func(r rules.SelectorRule) bool { return r.Selector.Matches(c.client) })
			if got := show(t, list[i].Effective); got != c.want {
				t.Errorf("client %v, %s: got %s, want %s", c.client, name, got, c.want)
			}
		}
	}
}

func TestRulesTakeThePlaceOfFrom(t *testing.T) {
	c := config(t, "MeshTimeout", `
type: MeshTimeout
name: a
spec: {from: [{default: {idleTimeout: 1s}}]}
---
type: MeshTimeout
name: b
spec:
  targetRef: {kind: Dataplane, sectionName: http}
  rules: [{default: {idleTimeout: 2s}}]
`)
	if in := c.Inbounds[0]; !in.FromIgnored || in.From != nil || len(in.Rules) != 1 {
		t.Errorf("inbound with both: %+v", in)
	}
	if in := c.Inbounds[1]; in.FromIgnored || in.From == nil || len(in.Rules) != 0 {
		t.Errorf("inbound with from: %+v", in)
	}
	c = config(t, "MeshTimeout", `
type: MeshTimeout
name: a
spec: {from: [{default: {idleTimeout: 1s}}]}
---
type: MeshTimeout
name: b
spec: {rules: []}
`)
	if in := c.Inbounds[0]; in.FromIgnored || in.From == nil {
		t.Errorf("inbound with from beside an empty list of rules: %+v", in)
	}
}
