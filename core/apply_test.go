package core_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/internal/resourcetest"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

func TestApplyWhatIsKnownPublishesNothing(t *testing.T) {
	world := dataplaneText("web-1", "web", toBackend) + timeoutText("base", "", everyDataplane, forAll) + "---\ntype: Mesh\nname: default\n"
	e := newEngine(t, world)
	before := e.View()
	if commit := apply(t, e, core.Batch{Upsert: resourcetest.Decode(t, world)}); commit.After != before {
		t.Error("a new view was published")
	}
}

// A batch with an error changes nothing, and every error is reported.
func TestApplyAllOrNothing(t *testing.T) {
	world := dataplaneText("web-1", "web", toBackend) + timeoutText("base", "", everyDataplane, forAll)
	valid := resourcetest.Decode(t, timeoutText("z", "", everyDataplane, `{default: {idleTimeout: 1s}}`)).Policies[0]
	permission := resourcetest.Decode(t, "type: MeshTrafficPermission\nname: p\nspec: {rules: [{default: {allow: [{method: GET}]}}]}\n").Policies[0]
	retry := resourcetest.Decode(t, "type: MeshRetry\nname: r\nspec: {to: [{default: {tcp: {maxConnectAttempt: 1}}}]}\n").Policies[0]
	permission.Rules[0].Matches = []conf.Match{{}}
	broken := func(change func(*resource.Policy)) core.Batch {
		p := *valid
		p.Name = "broken"
		change(&p)
		return core.Batch{Upsert: &resource.Set{Policies: []*resource.Policy{valid, &p}}}
	}
	proxy := func(change func(*resource.Dataplane)) core.Batch {
		d := *resourcetest.Decode(t, dataplaneText("web-2", "web", "")).Dataplanes[0]
		change(&d)
		return core.Batch{Upsert: &resource.Set{Policies: []*resource.Policy{valid}, Dataplanes: []*resource.Dataplane{&d}}}
	}
	document := func(value any) core.Batch {
		d := &resource.Document{Meta: resource.Meta{ID: resource.ID{Kind: ocm.PolicyKind, Name: "p"}}, Value: value}
		return core.Batch{Upsert: &resource.Set{Policies: []*resource.Policy{valid}, Documents: []*resource.Document{d}}}
	}
	for name, c := range map[string]struct {
		batch core.Batch
		want  string
	}{
		"a nil resource of a hub":   {document((*ocm.Policy)(nil)), `Policy "p": the resource is nil`},
		"a bad resource of a hub":   {document(&ocm.Policy{Meta: resource.Meta{ID: resource.ID{Kind: ocm.PolicyKind, Name: "p"}}, Action: 9}), `Policy "p": spec.remediationAction: unknown action 9`},
		"another resource of a hub": {document(&ocm.Placement{Meta: resource.Meta{ID: resource.ID{Kind: ocm.PolicyKind, Name: "p"}}}), `Policy "p": kind: must be Placement, not "Policy"`},
		"twice":                     {broken(func(p *resource.Policy) { p.Name = "z" }), `duplicate MeshTimeout "z" in mesh "default"`},
		"upserted and deleted":      {core.Batch{Upsert: &resource.Set{Policies: []*resource.Policy{valid}}, Delete: []resource.ID{valid.ID}}, "one batch does one thing"},
		"without a type":            {broken(func(p *resource.Policy) { p.Type = nil }), "not one of the kinds"},
		"of another kind":           {broken(func(p *resource.Policy) { p.Kind = "MeshRetry" }), "must be MeshTimeout"},
		"without a name":            {broken(func(p *resource.Policy) { p.Name = "" }), "name must not be empty"},
		"without a mesh":            {broken(func(p *resource.Policy) { p.Mesh = "" }), "mesh: a resource's mesh must not be empty"},
		"without a target":          {broken(func(p *resource.Policy) { p.TargetRef = resource.TargetRef{} }), `spec.targetRef.kind: required field is missing`},
		"without a conf":            {broken(func(p *resource.Policy) { p.To = []resource.Item{{TargetRef: p.To[0].TargetRef}} }), "spec.to[0].default: required field is missing"},
		"a target it does not have": {broken(func(p *resource.Policy) { p.To = []resource.Item{{Conf: p.To[0].Conf}} }), "spec.to[0].targetRef.kind"},
		"an array it does not have": {broken(func(p *resource.Policy) { p.Default = p.To[0].Conf }), "spec.default: MeshTimeout has no default"},
		"a to it does not have":     {broken(func(p *resource.Policy) { *p = *permission; p.Name, p.To = "broken", valid.To }), "spec.to: MeshTrafficPermission has no to"},
		"a from it does not have":   {broken(func(p *resource.Policy) { *p = *retry; p.Name, p.From = "broken", valid.To }), "spec.from: MeshRetry has no from"},
		"rules it does not have":    {broken(func(p *resource.Policy) { *p = *retry; p.Name, p.Rules = "broken", []resource.Rule{} }), "spec.rules: MeshRetry has no rules"},
		"from and rules":            {broken(func(p *resource.Policy) { p.From, p.Rules = []resource.Item{}, []resource.Rule{} }), "from and rules are both present"},
		"unsorted tags":             {proxy(func(d *resource.Dataplane) { d.Labels = resource.Tags{{Key: "b"}, {Key: "a"}} }), "not sorted by key"},
		"a gateway with inbounds":   {proxy(func(d *resource.Dataplane) { d.Gateway = &resource.GatewayProxy{} }), "a gateway has no inbounds"},
		"nil":                       {core.Batch{Upsert: &resource.Set{Dataplanes: []*resource.Dataplane{nil}}}, "a Dataplane is nil"},
		"a nil policy":              {core.Batch{Upsert: &resource.Set{Policies: []*resource.Policy{nil}}}, "a policy is nil"},
		"a nil object":              {core.Batch{Upsert: &resource.Set{Objects: []resource.Object{nil}}}, "an object is nil"},
		"a nil object of a type":    {core.Batch{Upsert: &resource.Set{Objects: []resource.Object{(*resource.MeshTrust)(nil)}}}, "an object is nil"},
		"a blank in a name":         {broken(func(p *resource.Policy) { p.Name = "a b" }), `name: must have no blanks and no control characters, not "a b"`},
		"a line in a namespace":     {broken(func(p *resource.Policy) { p.Namespace = "a\nb" }), `namespace: must have no blanks and no control characters, not "a\nb"`},
		"a null byte in a mesh":     {broken(func(p *resource.Policy) { p.Mesh = "a\x00" }), `mesh: must have no blanks and no control characters, not "a\x00"`},
		"deletes an unknown kind":   {core.Batch{Delete: []resource.ID{{Kind: "MeshTimeuot", Name: "x", Mesh: "default"}}}, `did you mean "MeshTimeout"?`},
		"matches where none are":    {broken(func(p *resource.Policy) { *p = *permission; p.Name = "broken" }), "spec.rules[0].matches: rules of MeshTrafficPermission have no matches"},
		"deletes what is not there": {core.Batch{Delete: []resource.ID{timeoutID("base"), timeoutID("missing")}}, `MeshTimeout "missing" in mesh "default": it is deleted, and does not exist`},
		"deletes in no mesh":        {core.Batch{Delete: []resource.ID{{Kind: "Dataplane", Mesh: "elsewhere", Name: "x"}}}, "does not exist"},
		"deletes no document":       {core.Batch{Delete: []resource.ID{{Kind: "Mesh", Mesh: "default", Name: "default"}}}, "does not exist"},
		"deletes no identity":       {core.Batch{Delete: []resource.ID{identityID("x")}}, "does not exist"},
		"deletes no trust":          {core.Batch{Delete: []resource.ID{trustID("x")}}, "does not exist"},
		"deletes no placement":      {core.Batch{Delete: []resource.ID{{Kind: ocm.PlacementRuleKind, Name: "x"}}}, "does not exist"},
		"deletes a mesh in another": {core.Batch{Delete: []resource.ID{{Kind: "Mesh", Mesh: "default", Name: "b"}}}, "in the mesh of its own name"},
		"a mesh in a namespace":     {core.Batch{Upsert: &resource.Set{Meshes: []*resource.Mesh{{Meta: resource.Meta{ID: resource.ID{Kind: "Mesh", Mesh: "a", Namespace: "n", Name: "a"}}}}}}, "a Mesh has no namespace"},
		"a mesh in another":         {core.Batch{Upsert: &resource.Set{Meshes: []*resource.Mesh{{Meta: resource.Meta{ID: resource.ID{Kind: "Mesh", Mesh: "a", Name: "b"}}}}}}, "in the mesh of its own name"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t, world)
			before := e.View()
			_, err := e.Apply(t.Context(), c.batch)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want ...%s...", err, c.want)
			}
			if e.View() != before || before.Policy(valid.ID) != nil {
				t.Error("the batch was applied in part")
			}
			if err := e.CheckInvariants(); err != nil {
				t.Error(err)
			}
			apply(t, e, core.Batch{Upsert: &resource.Set{Policies: []*resource.Policy{valid}}})
		})
	}
}

// An order that is not total is found before anything changes, in any mesh.
func TestApplyWithoutOrder(t *testing.T) {
	e := core.NewEngine(kinds.All(), core.Options{Semantics: core.TargetRef, Order: func(a, b *resource.Policy) int { return 0 }})
	one := resourcetest.Decode(t, dataplaneText("web-1", "web", toBackend)+timeoutText("a", "", everyDataplane, forAll))
	apply(t, e, core.Batch{Upsert: one})
	two := resourcetest.Decode(t, timeoutText("b", "", everyDataplane, forAll)+strings.ReplaceAll(dataplaneText("x", "web", ""), "name: x", "name: x\nmesh: another"))
	if _, err := e.Apply(t.Context(), core.Batch{Upsert: two}); err == nil || !strings.Contains(err.Error(), `neither of MeshTimeout "a" in mesh "default" and MeshTimeout "b" in mesh "default" overrides the other`) && !strings.Contains(err.Error(), `neither of MeshTimeout "b" in mesh "default" and MeshTimeout "a" in mesh "default" overrides the other`) {
		t.Errorf("got %v", err)
	}
	if meshes := e.View().Meshes(); !slices.Equal(meshes, []string{"default"}) {
		t.Errorf("the other mesh was changed: %v", meshes)
	}
	if err := e.CheckInvariants(); err != nil {
		t.Error(err)
	}
}
