package match_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/enforce"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/internal/match"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// overrideTest maintains, like an engine, the classes of two dataplanes in zone east,
// one of them a canary, and of one dataplane in zone west.
type overrideTest struct {
	*testing.T
	index      *match.Index
	state      *enforce.Hub
	dataplanes []*resource.Dataplane
	facts      *match.DataplaneIndex
	classes    *match.Classes[[]string] // with the policies that are enforced
	class      []*match.Class[[]string] // by dataplane
	buffer     match.Buffer
}

func newOverrideTest(t *testing.T) *overrideTest {
	o := &overrideTest{
		T: t, index: match.Empty(semantics.Reading{}), state: enforce.Empty(),
		facts: match.NewDataplaneIndex(semantics.TargetRef), classes: match.NewClasses[[]string](),
	}
	for i, d := range []struct {
		name   string
		labels map[string]string
	}{
		{"canary", map[string]string{resource.ZoneTag: "east", "canary": "yes"}},
		{"east", map[string]string{resource.ZoneTag: "east"}},
		{"west", map[string]string{resource.ZoneTag: "west"}},
	} {
		dp := &resource.Dataplane{Inbounds: []resource.Inbound{{Port: 80, Tags: service("web")}, {Port: 81, Tags: service("admin")}}}
		dp.ID, dp.Labels = resource.ID{Kind: resource.DataplaneKind, Mesh: "m", Name: d.name}, resource.NewTags(d.labels)
		o.dataplanes = append(o.dataplanes, dp)
		o.facts.Replace(uint32(i), nil, dp)
		o.class = append(o.class, o.classes.Classify(o.index, dp, &o.buffer))
	}
	return o
}

// edit changes the policies and the bindings in one edit, and updates the classes and
// selections that the edit reaches. It returns the names of the dataplanes that it
// reaches.
func (o *overrideTest) edit(bindings []ocm.Resource, change func(e *match.Editor)) string {
	o.Helper()
	hub := o.state.Edit()
	for _, r := range bindings {
		hub.Put(r)
	}
	state, delta := hub.Commit()
	if !o.index.Concerns("m", delta) {
		delta = nil
	}
	o.state = state
	e := o.index.Edit()
	e.Enforce(state, "m", delta)
	change(e)
	next, reach, err := e.Commit()
	if err != nil {
		o.Fatal(err)
	}
	o.index = next
	var reached []string
	known := o.facts.Reached(reach, nil)
	for _, i := range known {
		d := o.dataplanes[i]
		reached = append(reached, d.Name)
		o.class[i] = o.classes.Classify(next, d, &o.buffer)
		o.class[i].State = o.enforced(d)
	}
	for _, i := range o.facts.ReachedByPlacements(reach, nil) {
		if slices.Contains(known, i) {
			continue
		}
		d, from := o.dataplanes[i], o.class[i]
		reached = append(reached, d.Name)
		o.class[i] = o.classes.InPlacements(next, from, d, &o.buffer)
		if o.class[i] != o.classes.Classify(next, d, &o.buffer) || !o.class[i].SameButPlacements(from) {
			o.Errorf("%s is in another class by its placements than by all of its facts", d.Name)
		}
		o.class[i].State = o.enforced(d)
	}
	for _, class := range o.classes.Reached(reach) {
		if i := slices.Index(o.class, class); i >= 0 {
			class.State = o.enforced(o.dataplanes[i])
		}
	}
	for i, d := range o.dataplanes {
		if want := o.enforced(d); !slices.Equal(o.class[i].State, want) {
			o.Errorf("%s: the class has the policies %v, and a selection returns %v", d.Name, o.class[i].State, want)
		}
	}
	slices.Sort(reached)
	return strings.Join(reached, " ")
}

func (o *overrideTest) enforced(d *resource.Dataplane) []string {
	var names []string
	for _, s := range o.index.Select(d, results.Enforced, &o.buffer) {
		names = append(names, s.Policy.Name)
	}
	return names
}

// summary returns the policies that are enforced on each dataplane.
func (o *overrideTest) summary() string {
	var list []string
	for _, d := range o.dataplanes {
		list = append(list, d.Name+":"+strings.Join(o.enforced(d), "+"))
	}
	return strings.Join(list, " ")
}

func shadow(name string, target resource.TargetRef) *resource.Policy {
	p := policy("MeshTimeout", name, target)
	p.Mesh, p.Labels = "m", resource.Tags{{Key: resource.EffectLabel, Value: "shadow"}}
	return p
}

func override(binding, rule string, policies ...string) *ocm.PlacementBinding {
	b := &ocm.PlacementBinding{Placement: ocm.Ref{Kind: ocm.PlacementRuleKind, Name: rule}, Enforce: true}
	b.ID = resource.ID{Kind: ocm.PlacementBindingKind, Name: binding}
	for _, p := range policies {
		b.Subjects = append(b.Subjects, ocm.Subject{Ref: ocm.Ref{Kind: "MeshTimeout", Name: p}, Mesh: true})
	}
	return b
}

func placementRule(name string, canaries bool, clusters ...string) *ocm.PlacementRule {
	r := &ocm.PlacementRule{Clusters: clusters}
	r.ID = resource.ID{Kind: ocm.PlacementRuleKind, Name: name}
	if canaries {
		r.DataplaneSelector = &ocm.LabelSelector{Labels: resource.Tags{{Key: "canary", Value: "yes"}}}
	}
	return r
}

// A change of placements, bindings and policies reaches the dataplanes that enter or
// leave a placement, and the classes of policies whose override changes.
func TestOverrides(t *testing.T) {
	o := newOverrideTest(t)
	mesh, admin := resource.TargetRef{Kind: resource.TargetMesh}, resource.TargetRef{Kind: resource.TargetMeshService, Name: "admin"}
	nothing := func(*match.Editor) {}
	for _, step := range []struct {
		name     string
		hub      []ocm.Resource
		policies func(e *match.Editor)
		reached  string
		enforced string
	}{
		{
			"policies that inform", nil,
			func(e *match.Editor) { e.Put(shadow("p", mesh)); e.Put(shadow("q", admin)) },
			"canary east west", "canary: east: west:",
		},
		{
			"a binding of the canaries of a zone",
			[]ocm.Resource{override("b1", "wave", "p"), placementRule("wave", true, "east")}, nothing,
			"canary", "canary:p east: west:",
		},
		{
			"a binding of another policy with the same placement",
			[]ocm.Resource{override("b2", "wave", "q")}, nothing,
			"", "canary:p+q east: west:",
		},
		{
			"a selector that is removed",
			[]ocm.Resource{placementRule("wave", false, "east")}, nothing,
			"canary east", "canary:p+q east:p+q west:",
		},
		{
			"a zone that is added",
			[]ocm.Resource{placementRule("wave", false, "east", "west")}, nothing,
			"west", "canary:p+q east:p+q west:p+q",
		},
		{
			"a binding that is for another policy",
			[]ocm.Resource{override("b2", "wave", "other")}, nothing,
			"", "canary:p east:p west:p",
		},
		{
			"a policy that no longer informs", nil,
			func(e *match.Editor) { p := shadow("p", mesh); p.Labels = nil; e.Put(p) },
			"canary east west", "canary:p east:p west:p",
		},
		{
			"a policy that is removed and another one with its binding", nil,
			func(e *match.Editor) {
				e.Remove(shadow("p", mesh).ID)
				e.Put(shadow("other", mesh))
			},
			"canary east west", "canary:other east:other west:other",
		},
		{
			"the last policy with an override is removed", nil,
			func(e *match.Editor) { e.Remove(shadow("other", mesh).ID) },
			"canary east west", "canary: east: west:",
		},
		{
			"a placement of no policy", []ocm.Resource{placementRule("wave", false)}, nothing,
			"", "canary: east: west:",
		},
	} {
		if got := o.edit(step.hub, step.policies); got != step.reached {
			t.Errorf("%s: reaches %q, not %q", step.name, got, step.reached)
		}
		if got := o.summary(); got != step.enforced {
			t.Errorf("%s: %s, not %s", step.name, got, step.enforced)
		}
	}
}

// A placement that lists dataplanes by name reaches the listed ones, not all of the mesh.
func TestPlacementsOfNamedDataplanes(t *testing.T) {
	o := newOverrideTest(t)
	o.edit(nil, func(e *match.Editor) { e.Put(shadow("p", resource.TargetRef{Kind: resource.TargetMesh})) })
	for _, step := range []struct {
		names             []string
		reached, enforced string
	}{
		{[]string{"canary"}, "canary", "canary:p east: west:"},
		{[]string{"canary", "west"}, "canary west", "canary:p east: west:p"},
		{[]string{"canary", "east", "west"}, "canary east west", "canary:p east:p west:p"},
		{[]string{"missing"}, "canary east west", "canary: east: west:"},
	} {
		rule := placementRule("wave", false)
		rule.Clusters = nil
		for _, name := range step.names {
			rule.Dataplanes = append(rule.Dataplanes, ocm.DataplaneName{Mesh: "m", Name: name})
		}
		if got := o.edit([]ocm.Resource{override("b", "wave", "p"), rule}, func(*match.Editor) {}); got != step.reached {
			t.Errorf("%v: reaches %q, not %q", step.names, got, step.reached)
		}
		if got := o.summary(); got != step.enforced {
			t.Errorf("%v: %s, not %s", step.names, got, step.enforced)
		}
	}
}
