package match_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/match"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// As in Kuma, a policy of a zone selects the dataplanes of its zone, and a dataplane without
// an origin whichever zone the policy is of. An edit reaches exactly these dataplanes.
func TestPoliciesOfZones(t *testing.T) {
	var dataplanes []*resource.Dataplane
	dataplaneIndex := match.NewDataplaneIndex(semantics.Kuma)
	for i, labels := range []resource.Tags{
		tags("kuma.io/origin=zone", "kuma.io/zone=east"),
		tags("kuma.io/origin=zone", "kuma.io/zone=west"),
		nil, // a dataplane without an origin
	} {
		d := &resource.Dataplane{
			Meta:     resource.Meta{ID: resource.ID{Name: []string{"east", "west", "any"}[i]}, Labels: labels},
			Inbounds: []resource.Inbound{{Port: 80}},
		}
		dataplanes = append(dataplanes, d)
		dataplaneIndex.Replace(uint32(i), nil, d)
	}
	of := func(zone string) *resource.Policy {
		p := policy("MeshTimeout", "of-"+zone, resource.TargetRef{Kind: resource.TargetMesh})
		p.Labels = tags("kuma.io/origin=zone", "kuma.io/zone="+zone, "kuma.io/policy-role=system")
		return p
	}
	labelled := policy("MeshTimeout", "labelled", resource.TargetRef{Kind: resource.TargetDataplane, Labels: tags("kuma.io/zone=west")})
	labelled.Labels = tags("kuma.io/policy-role=system")

	x := match.Empty(semantics.Reading{Semantics: semantics.Kuma})
	classes := match.NewClasses[struct{}]()
	var buffer match.Buffer
	for _, step := range []struct {
		name     string
		edit     func(e *match.Editor)
		reached  []uint32
		selected string
	}{
		{"a policy of each zone", func(e *match.Editor) { e.Put(of("east")); e.Put(of("west")) },
			[]uint32{0, 1, 2}, "east: of-east, west: of-west, any: of-west of-east"},
		{"the policy of a zone is removed", func(e *match.Editor) { e.Remove(of("east").ID) },
			[]uint32{0, 2}, "east: , west: of-west, any: of-west"},
		{"another label than a zone's policies require", func(e *match.Editor) { e.Put(labelled) },
			[]uint32{1}, "east: , west: of-west labelled, any: of-west"},
		{"the policy is added again", func(e *match.Editor) { e.Remove(labelled.ID); e.Put(of("east")) },
			[]uint32{0, 1, 2}, "east: of-east, west: of-west, any: of-west of-east"},
	} {
		e := x.Edit()
		step.edit(e)
		next, delta, err := e.Commit()
		if err != nil {
			t.Fatal(err)
		}
		x = next
		if got := dataplaneIndex.Reached(delta, nil); !slices.Equal(got, step.reached) {
			t.Errorf("%s: dataplanes %v are reached, want %v", step.name, got, step.reached)
		}
		var got []string
		for _, d := range dataplanes {
			var on []string
			for _, s := range classes.Classify(x, d, &buffer).Select(x, results.Shadow, &buffer) {
				on = append(on, s.Policy.Name)
			}
			got = append(got, d.Name+": "+strings.Join(on, " "))
		}
		if got := strings.Join(got, ", "); got != step.selected {
			t.Errorf("%s: %s, want %s", step.name, got, step.selected)
		}
	}
}

// In Kuma, a policy can select one listener of a zone proxy, like an inbound. A class knows
// the listeners, even if the dataplane has no inbounds.
func TestListenersOfZoneProxies(t *testing.T) {
	zoneProxy := func(inbounds int, listeners ...string) *resource.Dataplane {
		d := &resource.Dataplane{Meta: resource.Meta{ID: resource.ID{Name: "zone-proxy"}}, Inbounds: make([]resource.Inbound, inbounds)}
		for _, name := range listeners {
			d.Listeners = append(d.Listeners, resource.Listener{Name: name, Port: 10001})
		}
		return d
	}
	p := policy("MeshTimeout", "p", resource.TargetRef{Kind: resource.TargetDataplane, SectionName: "egress"})
	p.Labels = tags("kuma.io/policy-role=system")
	x, err := match.NewIndex([]*resource.Policy{p}, semantics.Reading{Semantics: semantics.Kuma})
	if err != nil {
		t.Fatal(err)
	}
	classes := match.NewClasses[struct{}]()
	var buffer match.Buffer
	made := map[*match.Class[struct{}]]bool{}
	dataplanes := map[int]*resource.Dataplane{ // by the point of the listener
		0: zoneProxy(0, "egress"),
		1: zoneProxy(0, "ingress", "egress"),
		2: zoneProxy(1, "ingress", "egress"),
	}
	for point, d := range dataplanes {
		class := classes.Classify(x, d, &buffer)
		made[class] = true
		got := slices.Clone(class.Select(x, results.Shadow, &buffer))
		if len(got) != 1 || !got[0].Inbounds.Has(point) {
			t.Errorf("%d inbounds, %d listeners: the class is selected as %v, want point %d", len(d.Inbounds), len(d.Listeners), got, point)
		}
		if want := x.Select(d, results.Shadow, &buffer); !sameSelection(got, want) {
			t.Errorf("%d inbounds, %d listeners: the class is selected as %v, and the dataplane as %v", len(d.Inbounds), len(d.Listeners), got, want)
		}
	}
	if len(made) != len(dataplanes) {
		t.Errorf("%d zone proxies with different listeners are in %d classes", len(dataplanes), len(made))
	}
}
