package core_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/conf/kinds"
	"github.com/meshmatch/meshmatch/core/match"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// decode returns the resources of a text.
func decode(t testing.TB, text string) resource.Set {
	t.Helper()
	loader := resource.Loader{Kinds: kinds.All()}
	set, err := loader.Decode(resource.Input{Name: "test.yaml", Data: []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	return *set
}

func dataplaneText(name, service, outbounds string) string {
	return fmt.Sprintf(`
---
type: Dataplane
name: %s
networking:
  address: 10.0.0.1
  inbound: [{name: http, port: 80, tags: {kuma.io/service: %s}}]
  outbound: [%s]
`, name, service, outbounds)
}

func timeoutText(name, labels, target, to string) string {
	return fmt.Sprintf(`
---
type: MeshTimeout
name: %s
labels: {%s}
spec:
  targetRef: {%s}
  to: [%s]
`, name, labels, target, to)
}

const (
	toBackend = `{port: 1, tags: {kuma.io/service: backend}}`
	toOther   = `{port: 2, tags: {kuma.io/service: other}}`
	everybody = `kind: Mesh`
	forAll    = `{default: {connectionTimeout: 1s}}`
)

// newEngine returns an engine that has the resources of a text. Invariants are
// checked after this and each further apply.
func newEngine(t testing.TB, text string) *core.Engine {
	t.Helper()
	e := core.NewEngine(kinds.All(), core.Options{})
	apply(t, e, core.Batch{Upsert: decode(t, text)})
	return e
}

func apply(t testing.TB, e *core.Engine, b core.Batch) core.Commit {
	t.Helper()
	commit, err := e.Apply(b)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.CheckInvariants(); err != nil {
		t.Fatal(err)
	}
	if e.View() != commit.After {
		t.Fatal("the view is not the commit's")
	}
	return commit
}

func dataplaneID(name string) resource.ID {
	return resource.ID{Kind: resource.DataplaneKind, Mesh: "default", Name: name}
}

func timeoutID(name string) resource.ID {
	return resource.ID{Kind: "MeshTimeout", Mesh: "default", Name: name}
}

// told renders what a commit tells, one line for each change.
func told(c core.Commit) []string {
	var lines []string
	for _, change := range c.Changes() {
		line := change.Action.String()
		for _, d := range change.Dataplanes() {
			line += " " + d.Name
		}
		if change.Itself {
			line += ", itself"
		}
		for _, id := range change.Policies {
			line += ", by " + id.Name
		}
		for _, place := range change.Places {
			line += ", " + place.String()
		}
		for _, place := range change.Shadow {
			if !slices.Contains(change.Places, place) {
				line += ", shadow " + place.String()
			}
		}
		lines = append(lines, line)
	}
	return lines
}

func TestChanges(t *testing.T) {
	world := dataplaneText("web-1", "web", toBackend+","+toOther) + dataplaneText("web-2", "web", toBackend+","+toOther) +
		dataplaneText("api-1", "api", toBackend) + timeoutText("base", "", everybody, forAll)
	for name, c := range map[string]struct {
		upsert string
		delete []resource.ID
		want   []string
	}{
		"a policy for everybody": {
			upsert: timeoutText("z", "", everybody, `{default: {idleTimeout: 1s}}`),
			want: []string{
				"changed api-1, by z, MeshTimeout of outbound 0",
				"changed web-1 web-2, by z, MeshTimeout of outbound 0, MeshTimeout of outbound 1",
			},
		},
		"a policy for one outbound of one service": {
			upsert: timeoutText("z", "", "kind: MeshService, name: web", `{targetRef: {kind: MeshService, name: other}, default: {idleTimeout: 1s}}`),
			want:   []string{"changed web-1 web-2, by z, MeshTimeout of outbound 1"},
		},
		"a policy that is overridden": {
			upsert: timeoutText("a", "", everybody, forAll),
		},
		"a policy for nobody": {
			upsert: timeoutText("z", "", "kind: MeshService, name: nobody", forAll),
		},
		"a policy that informs": {
			upsert: timeoutText("z", "kuma.io/effect: shadow", "kind: MeshService, name: api", `{default: {connectionTimeout: 2s}}`),
			want:   []string{"changed api-1, by z, shadow MeshTimeout of outbound 0"},
		},
		"a policy's other target": {
			upsert: timeoutText("base", "", "kind: MeshService, name: web", forAll),
			want:   []string{"changed api-1, by base, MeshTimeout of outbound 0"},
		},
		"a policy's same content": {
			upsert: timeoutText("base", "team: red", everybody, forAll),
		},
		"no policy": {
			delete: []resource.ID{timeoutID("base")},
			want: []string{
				"changed api-1, by base, MeshTimeout of outbound 0",
				"changed web-1 web-2, by base, MeshTimeout of outbound 0, MeshTimeout of outbound 1",
			},
		},
		"inbounds, by rules": {
			upsert: "---\ntype: MeshTimeout\nname: in\nspec: {targetRef: {kind: MeshService, name: api}, rules: [{default: {idleTimeout: 1s}}]}\n",
			want:   []string{"changed api-1, by in, MeshTimeout of inbound 0"},
		},
		"a route": {
			upsert: "---\ntype: MeshHTTPRoute\nname: r\nspec: {targetRef: {kind: MeshService, name: api}, to: [{targetRef: {kind: MeshService, name: backend}, rules: []}]}\n",
			want:   []string{`changed api-1, by r, MeshHTTPRoute of outbound 0, MeshTimeout of MeshHTTPRoute "r" of outbound 0`},
		},
		"a dataplane joins": {
			upsert: dataplaneText("api-2", "api", ""),
			want:   []string{"joined api-2, itself"},
		},
		"a dataplane leaves": {
			delete: []resource.ID{dataplaneID("web-2")},
			want:   []string{"left web-2, itself, MeshTimeout of outbound 0, MeshTimeout of outbound 1"},
		},
		"a dataplane changes service": {
			upsert: dataplaneText("web-2", "api", toBackend+","+toOther),
			want:   []string{"changed web-2, itself"},
		},
		"a dataplane changes outbounds": {
			upsert: dataplaneText("web-2", "web", toBackend),
			want:   []string{"changed web-2, itself, MeshTimeout of outbound 1"},
		},
		"what is not there": {
			delete: []resource.ID{dataplaneID("nobody"), timeoutID("nothing")},
		},
		"what is known": {
			upsert: world,
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t, world)
			before := e.View()
			commit := apply(t, e, core.Batch{Upsert: decode(t, c.upsert), Delete: c.delete})
			if diff := cmp.Diff(c.want, told(commit)); diff != "" {
				t.Error(diff)
			}
			if commit.Before != before {
				t.Error("before is another view")
			}
		})
	}
}

// A new version of an item may differ in its kind alone: here in the service
// and the route that it names alike.
func TestChangesOfAnItemsKind(t *testing.T) {
	item := func(kind string) string {
		return timeoutText("one", "", everybody, "{targetRef: {kind: "+kind+", name: backend}, default: {idleTimeout: 1s}}")
	}
	e := newEngine(t, dataplaneText("web-1", "web", toBackend)+item("MeshService"))
	commit := apply(t, e, core.Batch{Upsert: decode(t, item("MeshHTTPRoute"))})
	if diff := cmp.Diff([]string{"changed web-1, by one, MeshTimeout of outbound 0"}, told(commit)); diff != "" {
		t.Error(diff)
	}
}

// Rules with the same confs by the same origins may match something else.
func TestChangesOfMatches(t *testing.T) {
	rule := func(method string) string {
		return "---\ntype: MeshTimeout\nname: in\nspec: {rules: [{matches: [{method: " + method + "}], default: {idleTimeout: 1s}}]}\n"
	}
	e := newEngine(t, dataplaneText("web-1", "web", toBackend)+rule("GET"))
	commit := apply(t, e, core.Batch{Upsert: decode(t, rule("PUT"))})
	if diff := cmp.Diff([]string{"changed web-1, by in, MeshTimeout of inbound 0"}, told(commit)); diff != "" {
		t.Error(diff)
	}
}

// Where a policy's items are exchanged, the conf and the list of its origins
// stay, and each field has another origin.
func TestChangesOfFieldOrigins(t *testing.T) {
	const idle, request = `{default: {idleTimeout: 1s}}`, `{default: {http: {requestTimeout: 1s}}}`
	e := newEngine(t, dataplaneText("web-1", "web", toBackend)+timeoutText("pair", "", everybody, idle+","+request))
	commit := apply(t, e, core.Batch{Upsert: decode(t, timeoutText("pair", "", everybody, request+","+idle))})
	if diff := cmp.Diff([]string{"changed web-1, by pair, MeshTimeout of outbound 0"}, told(commit)); diff != "" {
		t.Error(diff)
	}
}

func TestApplyWhatIsKnownPublishesNothing(t *testing.T) {
	world := dataplaneText("web-1", "web", toBackend) + timeoutText("base", "", everybody, forAll) + "---\ntype: Mesh\nname: default\n"
	e := newEngine(t, world)
	before := e.View()
	if commit := apply(t, e, core.Batch{Upsert: decode(t, world)}); commit.After != before {
		t.Error("a new view was published")
	}
}

// A batch with an error changes nothing, and every error is told.
func TestApplyAllOrNothing(t *testing.T) {
	world := dataplaneText("web-1", "web", toBackend) + timeoutText("base", "", everybody, forAll)
	valid := decode(t, timeoutText("z", "", everybody, `{default: {idleTimeout: 1s}}`)).Policies[0]
	permission := decode(t, "type: MeshTrafficPermission\nname: p\nspec: {rules: [{default: {allow: [{method: GET}]}}]}\n").Policies[0]
	retry := decode(t, "type: MeshRetry\nname: r\nspec: {to: [{default: {}}]}\n").Policies[0]
	permission.Rules[0].Matches = []conf.Match{{}}
	broken := func(change func(*resource.Policy)) core.Batch {
		p := *valid
		p.Name = "broken"
		change(&p)
		return core.Batch{Upsert: resource.Set{Policies: []*resource.Policy{valid, &p}}}
	}
	proxy := func(change func(*resource.Dataplane)) core.Batch {
		d := *decode(t, dataplaneText("web-2", "web", "")).Dataplanes[0]
		change(&d)
		return core.Batch{Upsert: resource.Set{Policies: []*resource.Policy{valid}, Dataplanes: []*resource.Dataplane{&d}}}
	}
	for name, c := range map[string]struct {
		batch core.Batch
		want  string
	}{
		"twice":                     {broken(func(p *resource.Policy) { p.Name = "z" }), `duplicate MeshTimeout "z" in mesh "default"`},
		"upserted and deleted":      {core.Batch{Upsert: resource.Set{Policies: []*resource.Policy{valid}}, Delete: []resource.ID{valid.ID}}, "one batch does one thing"},
		"without a type":            {broken(func(p *resource.Policy) { p.Type = nil }), "not one of the kinds"},
		"of another kind":           {broken(func(p *resource.Policy) { p.Kind = "MeshRetry" }), "must be MeshTimeout"},
		"without a name":            {broken(func(p *resource.Policy) { p.Name = "" }), "name must not be empty"},
		"without a mesh":            {broken(func(p *resource.Policy) { p.Mesh = "" }), "mesh: must not be empty"},
		"without a target":          {broken(func(p *resource.Policy) { p.TargetRef = resource.TargetRef{} }), `spec.targetRef.kind: can not be ""`},
		"without a conf":            {broken(func(p *resource.Policy) { p.To = []resource.Item{{TargetRef: p.To[0].TargetRef}} }), "spec.to[0].default: required field is missing"},
		"a target it does not have": {broken(func(p *resource.Policy) { p.To = []resource.Item{{Conf: p.To[0].Conf}} }), "spec.to[0].targetRef.kind"},
		"an array it does not have": {broken(func(p *resource.Policy) { p.Default = p.To[0].Conf }), "spec.default: MeshTimeout has no default"},
		"a to it does not have":     {broken(func(p *resource.Policy) { *p = *permission; p.Name, p.To = "broken", valid.To }), "spec.to: MeshTrafficPermission has none"},
		"a from it does not have":   {broken(func(p *resource.Policy) { *p = *retry; p.Name, p.From = "broken", valid.To }), "spec.from: MeshRetry has none"},
		"rules it does not have":    {broken(func(p *resource.Policy) { *p = *retry; p.Name, p.Rules = "broken", []resource.Rule{} }), "spec.rules: MeshRetry has no rules"},
		"from and rules":            {broken(func(p *resource.Policy) { p.From, p.Rules = []resource.Item{}, []resource.Rule{} }), "from and rules are both present"},
		"unsorted tags":             {proxy(func(d *resource.Dataplane) { d.Labels = resource.Tags{{Key: "b"}, {Key: "a"}} }), "not sorted by key"},
		"a gateway with inbounds":   {proxy(func(d *resource.Dataplane) { d.Gateway = &resource.GatewayProxy{} }), "a gateway has no inbounds"},
		"nil":                       {core.Batch{Upsert: resource.Set{Dataplanes: []*resource.Dataplane{nil}}}, "a Dataplane is nil"},
		"deletes an unknown kind":   {core.Batch{Delete: []resource.ID{{Kind: "MeshTimeuot", Name: "x", Mesh: "default"}}}, `did you mean "MeshTimeout"?`},
		"matches where none are":    {broken(func(p *resource.Policy) { *p = *permission; p.Name = "broken" }), "spec.rules[0].matches: rules of MeshTrafficPermission have no matches"},
		"deletes a mesh in another": {core.Batch{Delete: []resource.ID{{Kind: "Mesh", Mesh: "default", Name: "b"}}}, "in the mesh of its own name"},
		"a mesh in a namespace":     {core.Batch{Upsert: resource.Set{Meshes: []*resource.Mesh{{Meta: resource.Meta{ID: resource.ID{Kind: "Mesh", Mesh: "a", Namespace: "n", Name: "a"}}}}}}, "a Mesh has no namespace"},
		"a mesh in another":         {core.Batch{Upsert: resource.Set{Meshes: []*resource.Mesh{{Meta: resource.Meta{ID: resource.ID{Kind: "Mesh", Mesh: "a", Name: "b"}}}}}}, "in the mesh of its own name"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t, world)
			before := e.View()
			_, err := e.Apply(c.batch)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want ...%s...", err, c.want)
			}
			if e.View() != before || before.Policy(valid.ID) != nil {
				t.Error("the batch was applied in part")
			}
			if err := e.CheckInvariants(); err != nil {
				t.Error(err)
			}
			apply(t, e, core.Batch{Upsert: resource.Set{Policies: []*resource.Policy{valid}}})
		})
	}
}

// An order that is none is found out before anything changes, in any mesh.
func TestApplyWithoutOrder(t *testing.T) {
	e := core.NewEngine(kinds.All(), core.Options{Order: func(a, b *resource.Policy) int { return 0 }})
	one := decode(t, dataplaneText("web-1", "web", toBackend)+timeoutText("a", "", everybody, forAll))
	apply(t, e, core.Batch{Upsert: one})
	two := decode(t, timeoutText("b", "", everybody, forAll)+strings.ReplaceAll(dataplaneText("x", "web", ""), "name: x", "name: x\nmesh: another"))
	if _, err := e.Apply(core.Batch{Upsert: two}); err == nil || !strings.Contains(err.Error(), `neither of MeshTimeout "a" and MeshTimeout "b" overrides the other`) && !strings.Contains(err.Error(), `neither of MeshTimeout "b" and MeshTimeout "a" overrides the other`) {
		t.Errorf("got %v", err)
	}
	if meshes := e.View().Meshes(); !slices.Equal(meshes, []string{"default"}) {
		t.Errorf("the other mesh was changed: %v", meshes)
	}
	if err := e.CheckInvariants(); err != nil {
		t.Error(err)
	}
}

func TestMeshes(t *testing.T) {
	e := newEngine(t, "type: Mesh\nname: a\n"+strings.ReplaceAll(dataplaneText("x", "web", ""), "name: x", "name: x\nmesh: b"))
	if meshes := e.View().Meshes(); !slices.Equal(meshes, []string{"a", "b"}) {
		t.Errorf("got %v", meshes)
	}
	if diff := cmp.Diff(map[string]int{"Mesh": 1, "Dataplane": 1}, e.View().Count()); diff != "" {
		t.Error(diff)
	}
	nowhere := e.View()
	if nowhere.Dataplanes("nowhere") != nil || nowhere.Policies("nowhere") != nil ||
		nowhere.Dataplane(resource.ID{Mesh: "nowhere", Name: "x"}) != nil || nowhere.Policy(resource.ID{Mesh: "nowhere"}) != nil {
		t.Error("there is something in a mesh that is not there")
	}
	apply(t, e, core.Batch{Delete: []resource.ID{{Kind: "Mesh", Mesh: "a", Name: "a"}, {Kind: "Dataplane", Mesh: "b", Name: "x"}}})
	if meshes := e.View().Meshes(); len(meshes) != 0 {
		t.Errorf("%v are left", meshes)
	}
	if s := e.Sizes(); s != (core.Sizes{}) {
		t.Errorf("%+v is left", s)
	}
}

// Dataplanes of two profiles share what they have the same.
func TestBlocksAreShared(t *testing.T) {
	e := newEngine(t, dataplaneText("web-1", "web", toBackend)+dataplaneText("api-1", "api", toOther+","+toBackend)+
		timeoutText("base", "", everybody, forAll)+timeoutText("web", "", "kind: MeshService, name: web", `{default: {}}`))
	outbound := func(v *core.View, name string, i int) any {
		return v.Configs(v.Dataplane(dataplaneID(name)), core.Scope{Kind: "MeshTimeout"})[0].Outbounds[i].Effective
	}
	v := e.View()
	shared := outbound(v, "web-1", 0)
	if outbound(v, "api-1", 0) != shared || outbound(v, "api-1", 1) != shared {
		t.Error("equal confs are not one block")
	}
	after := apply(t, e, core.Batch{Upsert: decode(t, timeoutText("z", "", "kind: MeshService, name: api", `{targetRef: {kind: MeshService, name: other}, default: {idleTimeout: 1s}}`))}).After
	if outbound(after, "api-1", 1) != shared || outbound(after, "web-1", 0) != shared {
		t.Error("a block whose inputs are the same was made again")
	}
	if outbound(after, "api-1", 0) == shared {
		t.Error("the change did not arrive")
	}
	if got := e.Sizes(); got.Blocks != 2 || got.Classes != 2 || got.Profiles != 2 {
		t.Errorf("%+v", got)
	}
}

// So do inbounds for which some of the same policies have rules.
func TestBlocksOfRulesAreShared(t *testing.T) {
	rule := func(name, target, method string) string {
		return fmt.Sprintf("---\ntype: MeshTimeout\nname: %s\nspec: {targetRef: {%s}, rules: [{matches: [{method: %s}], default: {idleTimeout: 1s}}]}\n", name, target, method)
	}
	v := newEngine(t, dataplaneText("web-1", "web", "")+dataplaneText("api-1", "api", "")+
		rule("base", everybody, "GET")+rule("web", "kind: MeshService, name: web", "PUT")).View()
	rules := func(name string) []rules.InboundRule {
		return v.Configs(v.Dataplane(dataplaneID(name)), core.Scope{})[0].Inbounds[0].Rules
	}
	web, api := rules("web-1"), rules("api-1")
	if len(web) != 2 || len(api) != 1 || web[1].Effective != api[0].Effective {
		t.Errorf("%d and %d rules; equal confs are not one block", len(web), len(api))
	}
}

// Blocks are those of the engine's kinds, whatever loader made the kinds of the
// policies.
func TestBlocksOfPoliciesFromTwoLoaders(t *testing.T) {
	e := newEngine(t, dataplaneText("web-1", "web", toBackend)+dataplaneText("api-1", "api", toBackend)+timeoutText("base", "", everybody, forAll))
	v := apply(t, e, core.Batch{Upsert: decode(t, timeoutText("a", "", everybody, `{default: {}}`)+timeoutText("api", "", "kind: MeshService, name: api", `{default: {}}`))}).After
	v = apply(t, e, core.Batch{Upsert: decode(t, timeoutText("a", "", "kind: MeshService, name: web", `{default: {}}`))}).After
	config := func(name string) *rules.Config {
		return v.Configs(v.Dataplane(dataplaneID(name)), core.Scope{})[0]
	}
	web, api := config("web-1"), config("api-1")
	if web.Outbounds[0].Effective != api.Outbounds[0].Effective {
		t.Error("equal confs are not one block")
	}
	stranger := *v.Dataplane(dataplaneID("web-1"))
	for _, c := range []*rules.Config{web, api, v.Configs(&stranger, core.Scope{})[0]} {
		if c.Kind != v.Kinds().Lookup("MeshTimeout") {
			t.Error("the kind is another one than the engine's")
		}
	}
}

// Who joins a class changes nothing for those who are in it.
func TestJoiningAClass(t *testing.T) {
	e := newEngine(t, dataplaneText("web-1", "web", toBackend)+timeoutText("base", "", everybody, forAll))
	v := e.View()
	next := apply(t, e, core.Batch{Upsert: decode(t, dataplaneText("web-2", "web", toOther))}).After
	web := v.Dataplane(dataplaneID("web-1"))
	if before, after := v.Configs(web, core.Scope{}), next.Configs(web, core.Scope{}); &before[0] != &after[0] {
		t.Error("the configs were made again")
	}
}

// A term that nobody required splits the classes of those who have it only,
// and when nobody requires it any more they are joined again.
func TestClassesFollowSelectors(t *testing.T) {
	var world strings.Builder
	for i := range 20 {
		world.WriteString(dataplaneText(fmt.Sprintf("web-%d", i), "web", toBackend))
	}
	e := newEngine(t, world.String()+timeoutText("base", "", everybody, forAll))
	classes := func(want int) {
		t.Helper()
		if got := e.Sizes().Classes; got != want {
			t.Errorf("%d classes, want %d", got, want)
		}
	}
	classes(1)
	one := timeoutText("one", "", "kind: Dataplane, name: web-7", forAll)
	apply(t, e, core.Batch{Upsert: decode(t, one)})
	classes(2)
	apply(t, e, core.Batch{Upsert: decode(t, strings.ReplaceAll(one, "1s", "2s"))})
	classes(2)
	apply(t, e, core.Batch{Upsert: decode(t, strings.ReplaceAll(one, "web-7", "nobody"))})
	classes(1)
	apply(t, e, core.Batch{Delete: []resource.ID{timeoutID("one")}})
	classes(1)
}

func TestConfigsOfAStranger(t *testing.T) {
	e := newEngine(t, dataplaneText("web-1", "web", toBackend)+timeoutText("base", "", everybody, forAll))
	v := e.View()
	known := v.Dataplane(dataplaneID("web-1"))
	stranger := *known
	for _, scope := range []core.Scope{{}, {Kind: "MeshTimeout"}, {Kind: "MeshRetry"}, {Shadow: true}} {
		a, b := v.Configs(known, scope), v.Configs(&stranger, scope)
		if len(a) != len(b) || len(a) == 1 && a[0].Outbounds[0].Conf == nil {
			t.Errorf("%+v: %d and %d configs", scope, len(a), len(b))
		}
	}
	if nobody := v.Dataplane(dataplaneID("nobody")); v.Configs(nobody, core.Scope{}) != nil || v.Select(nobody, core.Scope{}, new(match.Buffer)) != nil {
		t.Error("nobody has configs")
	}
	if v.Configs(&resource.Dataplane{Meta: resource.Meta{ID: resource.ID{Mesh: "nowhere"}}}, core.Scope{}) != nil {
		t.Error("configs in a mesh that is not there")
	}
}

func TestConfigsAllocateNothing(t *testing.T) {
	e := newEngine(t, dataplaneText("web-1", "web", toBackend)+timeoutText("base", "", everybody, forAll))
	d := e.View().Dataplane(dataplaneID("web-1"))
	if n := testing.AllocsPerRun(100, func() {
		if len(e.View().Configs(d, core.Scope{Kind: "MeshTimeout"})) != 1 {
			t.Fatal("no config")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
