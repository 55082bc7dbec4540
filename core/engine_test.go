package core_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/resourcetest"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/kind/meshretry"
	"github.com/meshmatch/meshmatch/core/kind/meshtimeout"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

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

// limitText is the text of a MeshCircuitBreaker.
func limitText(name, target, to string) string {
	return strings.Replace(timeoutText(name, "", target, to), "MeshTimeout", "MeshCircuitBreaker", 1)
}

// setsNothing is an item of a MeshCircuitBreaker that selects and sets nothing.
const setsNothing = `{default: {connectionLimits: {}}}`

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
	toBackend      = `{port: 1, tags: {kuma.io/service: backend}}`
	toOther        = `{port: 2, tags: {kuma.io/service: other}}`
	everyDataplane = `kind: Mesh`
	forAll         = `{default: {connectionTimeout: 1s}}`
)

// newEngine returns an engine that has the resources of a text. Invariants are
// checked after this and each further apply.
func newEngine(t testing.TB, text string) *core.Engine {
	t.Helper()
	e := core.NewEngine(kinds.All(), core.Options{Semantics: core.TargetRef})
	apply(t, e, core.Batch{Upsert: resourcetest.Decode(t, text)})
	return e
}

func apply(t testing.TB, e *core.Engine, b core.Batch) core.Commit {
	t.Helper()
	commit, err := e.Apply(t.Context(), b)
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

// Dataplanes of two profiles share equal blocks.
func TestBlocksAreShared(t *testing.T) {
	e := newEngine(t, dataplaneText("web-1", "web", toBackend)+dataplaneText("api-1", "api", toOther+","+toBackend)+
		limitText("base", everyDataplane, `{default: {connectionLimits: {maxRetries: 1}}}`)+limitText("web", "kind: MeshService, name: web", setsNothing))
	outbound := func(v *core.View, name string, i int) any {
		return configOf(t, v, v.Dataplane(dataplaneID(name)), "MeshCircuitBreaker").Outbounds[i].Effective
	}
	v := e.View()
	shared := outbound(v, "web-1", 0)
	if outbound(v, "api-1", 0) != shared || outbound(v, "api-1", 1) != shared {
		t.Error("equal confs are not one block")
	}
	after := apply(t, e, core.Batch{Upsert: resourcetest.Decode(t, limitText("z", "kind: MeshService, name: api", `{targetRef: {kind: MeshService, name: other}, default: {connectionLimits: {maxRequests: 1}}}`))}).After
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

// Inbounds for which the same policies have rules share blocks too.
func TestBlocksOfRulesAreShared(t *testing.T) {
	rule := func(name, target, method string) string {
		return fmt.Sprintf("---\ntype: MeshTimeout\nname: %s\nspec: {targetRef: {%s}, rules: [{matches: [{method: %s}], default: {idleTimeout: 1s}}]}\n", name, target, method)
	}
	v := newEngine(t, dataplaneText("web-1", "web", "")+dataplaneText("api-1", "api", "")+
		rule("base", everyDataplane, "GET")+rule("web", "kind: MeshService, name: web", "PUT")).View()
	rules := func(name string) []results.InboundRule {
		return v.Configs(v.Dataplane(dataplaneID(name)), core.Enforced)[0].Inbounds[0].Rules
	}
	web, api := rules("web-1"), rules("api-1")
	if len(web) != 2 || len(api) != 1 || web[1].Effective != api[0].Effective {
		t.Errorf("%d and %d rules; equal confs are not one block", len(web), len(api))
	}
}

// Blocks use the engine's kinds, regardless of the loader that made the kinds of the
// policies.
func TestBlocksOfPoliciesFromTwoLoaders(t *testing.T) {
	e := newEngine(t, dataplaneText("web-1", "web", toBackend)+dataplaneText("api-1", "api", toBackend)+limitText("base", everyDataplane, `{default: {connectionLimits: {maxRetries: 1}}}`))
	v := apply(t, e, core.Batch{Upsert: resourcetest.Decode(t, limitText("a", everyDataplane, setsNothing)+limitText("api", "kind: MeshService, name: api", setsNothing))}).After
	v = apply(t, e, core.Batch{Upsert: resourcetest.Decode(t, limitText("a", "kind: MeshService, name: web", setsNothing))}).After
	config := func(name string) *results.Config {
		return v.Configs(v.Dataplane(dataplaneID(name)), core.Enforced)[0]
	}
	web, api := config("web-1"), config("api-1")
	if web.Outbounds[0].Effective != api.Outbounds[0].Effective {
		t.Error("equal confs are not one block")
	}
	stranger := *v.Dataplane(dataplaneID("web-1"))
	for _, c := range []*results.Config{web, api, v.Configs(&stranger, core.Enforced)[0]} {
		if c.Kind != v.Kinds().Lookup("MeshCircuitBreaker") {
			t.Error("the kind is another one than the engine's")
		}
	}
}

// A dataplane that joins a class changes nothing for the others in it.
func TestJoiningAClass(t *testing.T) {
	e := newEngine(t, dataplaneText("web-1", "web", toBackend)+timeoutText("base", "", everyDataplane, forAll))
	v := e.View()
	next := apply(t, e, core.Batch{Upsert: resourcetest.Decode(t, dataplaneText("web-2", "web", toOther))}).After
	web := v.Dataplane(dataplaneID("web-1"))
	if before, after := v.Configs(web, core.Enforced), next.Configs(web, core.Enforced); &before[0] != &after[0] {
		t.Error("the configs were made again")
	}
}

// When a selector begins to require a term, the dataplanes with the term leave
// their class; when no selector requires it any longer, they return.
func TestClassesFollowSelectors(t *testing.T) {
	var world strings.Builder
	for i := range 20 {
		world.WriteString(dataplaneText(fmt.Sprintf("web-%d", i), "web", toBackend))
	}
	e := newEngine(t, world.String()+timeoutText("base", "", everyDataplane, forAll))
	classes := func(want int) {
		t.Helper()
		if got := e.Sizes().Classes; got != want {
			t.Errorf("%d classes, want %d", got, want)
		}
	}
	classes(1)
	one := timeoutText("one", "", "kind: Dataplane, name: web-7", forAll)
	apply(t, e, core.Batch{Upsert: resourcetest.Decode(t, one)})
	classes(2)
	apply(t, e, core.Batch{Upsert: resourcetest.Decode(t, strings.ReplaceAll(one, "1s", "2s"))})
	classes(2)
	apply(t, e, core.Batch{Upsert: resourcetest.Decode(t, strings.ReplaceAll(one, "web-7", "missing"))})
	classes(1)
	apply(t, e, core.Batch{Delete: []resource.ID{timeoutID("one")}})
	classes(1)
}

// A dataplane outside the view gets the configs that it would have in its mesh.
func TestConfigsOfADataplaneOutsideTheView(t *testing.T) {
	e := newEngine(t, dataplaneText("web-1", "web", toBackend)+timeoutText("base", "", everyDataplane, forAll))
	v := e.View()
	known := v.Dataplane(dataplaneID("web-1"))
	outsider := *known
	for _, scope := range []core.Scope{core.Enforced, core.Shadow} {
		a, b := v.Configs(known, scope), v.Configs(&outsider, scope)
		if len(a) != 1 || len(b) != 1 || b[0].Outbounds[0].Conf == nil {
			t.Errorf("%v: %d and %d configs", scope, len(a), len(b))
		}
	}
	if v.Configs(v.Dataplane(dataplaneID("missing")), core.Enforced) != nil {
		t.Error("a nil dataplane has configs")
	}
	if v.Configs(&resource.Dataplane{Meta: resource.Meta{ID: resource.ID{Mesh: "nowhere"}}}, core.Enforced) != nil {
		t.Error("a dataplane of an unknown mesh has configs")
	}
}

// Config has an answer for each known kind, even if no policy of it selects the
// dataplane.
func TestConfig(t *testing.T) {
	v := newEngine(t, dataplaneText("web-1", "web", toBackend)+timeoutText("base", "", everyDataplane, forAll)).View()
	d := v.Dataplane(dataplaneID("web-1"))
	timeout := configOf(t, v, d, "MeshTimeout")
	if timeout != v.Configs(d, core.Enforced)[0] {
		t.Error("Config and Configs differ")
	}
	if conf, err := results.ConfOf[meshtimeout.Conf](timeout.Outbounds[0].Effective); err != nil || conf.ConnectionTimeout == nil {
		t.Error("no connection timeout", err)
	}
	if conf, err := results.ConfOf[meshtimeout.Conf](nil); conf != nil || err != nil {
		t.Errorf("the conf of nothing: %v, %v", conf, err)
	}
	retry := configOf(t, v, d, "MeshRetry")
	if retry.Matched.Len() != 0 || len(retry.Outbounds) != len(d.Outbounds) || retry.Outbounds[0].Effective != nil {
		t.Errorf("MeshRetry without policies: %+v", retry)
	}
}

// What is asked for what does not exist, or as another type than it is, is an error.
func TestUnknown(t *testing.T) {
	v := newEngine(t, dataplaneText("web-1", "web", toBackend)+timeoutText("base", "", everyDataplane, forAll)).View()
	d := v.Dataplane(dataplaneID("web-1"))
	effective := configOf(t, v, d, "MeshTimeout").Outbounds[0].Effective
	elsewhere := *d
	elsewhere.Mesh = "elsewhere"
	config := func(d *resource.Dataplane, kind string) error {
		got, err := v.Config(d, kind, core.Enforced)
		if got != nil {
			t.Errorf("%s: %v", kind, got)
		}
		return err
	}
	selectedBy := func(id resource.ID) error {
		got, err := v.SelectedBy(id)
		if got != nil {
			t.Errorf("%s: %v", id, got)
		}
		return err
	}
	_, errConf := results.ConfOf[meshretry.Conf](effective)
	for _, c := range []struct {
		err  error
		is   error
		want string
	}{
		{config(d, "MeshTimeoutt"), core.ErrUnknownKind, `unknown policy kind "MeshTimeoutt"; did you mean "MeshTimeout"?`},
		{config(nil, "MeshTimeoutt"), core.ErrUnknownKind, ""},
		{config(nil, "MeshTimeout"), core.ErrUnknownResource, "unknown resource: the dataplane is nil"},
		{config(&elsewhere, "MeshTimeout"), core.ErrUnknownMesh, `unknown mesh "elsewhere"`},
		{selectedBy(resource.ID{Kind: "MeshTimeoutt", Mesh: "default", Name: "base"}), core.ErrUnknownKind, ""},
		{selectedBy(timeoutID("missing")), core.ErrUnknownResource, `unknown resource: MeshTimeout "missing" in mesh "default"`},
		{errConf, results.ErrConfType, "the conf is of another type: it is a *meshtimeout.Conf, not a *meshretry.Conf"},
	} {
		if !errors.Is(c.err, c.is) || c.want != "" && c.err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", c.err, c.want)
		}
	}
	defer func() {
		if err, ok := recover().(error); !ok || !errors.Is(err, results.ErrConfType) {
			t.Errorf("MustConfOf panics with %v", err)
		}
	}()
	results.MustConfOf[meshretry.Conf](effective)
}

// configOf returns the enforced config of a dataplane.
func configOf(t testing.TB, v *core.View, d *resource.Dataplane, kind string) *results.Config {
	t.Helper()
	config, err := v.Config(d, kind, core.Enforced)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func TestSelectedBy(t *testing.T) {
	e := newEngine(t, dataplaneText("web-2", "web", toBackend)+dataplaneText("web-1", "web", "")+dataplaneText("api-1", "api", toBackend)+
		timeoutText("web", "", "kind: MeshService, name: web", forAll)+
		timeoutText("informs", "kuma.io/effect: shadow", everyDataplane, forAll))
	text := func(policy string) string {
		var lines []string
		selected, err := e.View().SelectedBy(timeoutID(policy))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range selected {
			lines = append(lines, fmt.Sprintf("%s inbound:%t enforced:%t", s.Dataplane.Name, s.Inbounds.Has(0), s.Enforced))
		}
		return strings.Join(lines, ", ")
	}
	for policy, want := range map[string]string{
		"web":     "web-1 inbound:true enforced:true, web-2 inbound:true enforced:true",
		"informs": "api-1 inbound:true enforced:false, web-1 inbound:true enforced:false, web-2 inbound:true enforced:false",
	} {
		if got := text(policy); got != want {
			t.Errorf("%s: got %s, want %s", policy, got, want)
		}
	}
}

func TestConfigsAllocateNothing(t *testing.T) {
	e := newEngine(t, dataplaneText("web-1", "web", toBackend)+timeoutText("base", "", everyDataplane, forAll))
	d := e.View().Dataplane(dataplaneID("web-1"))
	if n := testing.AllocsPerRun(100, func() {
		if config, err := e.View().Config(d, "MeshTimeout", core.Enforced); err != nil || config.Matched.Len() != 1 {
			t.Fatal("no config", err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
