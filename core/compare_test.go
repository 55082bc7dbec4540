package core_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/resourcetest"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// A commit without views changed nothing, a nil view has no meshes, and an engine without kinds
// refuses each policy.
func TestCompareWithoutView(t *testing.T) {
	if got := (core.Commit{}).Changes(); len(got) != 0 {
		t.Errorf("the empty commit has the changes %v", got)
	}
	if got := (core.Commit{}).DestinationChanges(); len(got) != 0 {
		t.Errorf("the empty commit has the changes of destinations %v", got)
	}
	set := resourcetest.Decode(t, dataplaneText("web-1", "web", toBackend)+timeoutText("base", "", everyDataplane, forAll))
	e := newEngine(t, "")
	view := apply(t, e, core.Batch{Upsert: set}).After
	if got := core.Compare(nil, view); len(got) != 1 || got[0].Action != core.Joined {
		t.Errorf("from nothing, the changes are %v", got)
	}
	if got := core.Compare(view, nil); len(got) != 1 || got[0].Action != core.Left {
		t.Errorf("to nothing, the changes are %v", got)
	}
	_, err := core.NewEngine(nil, core.Options{Semantics: core.TargetRef}).Apply(t.Context(), core.Batch{Upsert: set})
	if err == nil || !strings.Contains(err.Error(), `"MeshTimeout" is not one of the kinds of this engine`) {
		t.Errorf("without kinds: %v", err)
	}
}

// Views may be far apart, in any direction, and of different engines. The commits
// between them and the positions of resources in files make no difference.
func TestCompare(t *testing.T) {
	proxies := []string{dataplaneText("api-1", "api", toBackend), dataplaneText("web-1", "web", toBackend), dataplaneText("web-2", "web", toBackend)}
	world := strings.Join(proxies, "") + timeoutText("base", "", everyDataplane, forAll) + timeoutText("other", "", everyDataplane, `{targetRef: {kind: MeshService, name: nowhere}, default: {idleTimeout: 3s}}`)
	slower := timeoutText("base", "", everyDataplane, `{default: {connectionTimeout: 2s}}`)
	baseDiffers := []string{"changed api-1 web-1 web-2, by base, MeshTimeout of outbound 0"}
	for name, c := range map[string]struct {
		delete []resource.ID // each in a batch of its own
		upsert []string      // after that, each in a batch of its own
		want   []string
	}{
		"nothing happened": {},
		"all dataplanes left and came back in another order": {
			delete: []resource.ID{dataplaneID("web-1"), dataplaneID("web-2"), dataplaneID("api-1")},
			upsert: proxies,
		},
		"a dataplane has the place of another one, which came back": {
			delete: []resource.ID{dataplaneID("web-1")},
			upsert: []string{dataplaneText("new", "web", toBackend), proxies[1]},
			want:   []string{"joined new, itself, MeshTimeout of outbound 0"},
		},
		"dataplanes came back to another policy": {
			delete: []resource.ID{dataplaneID("web-1"), dataplaneID("web-2")},
			upsert: []string{slower, proxies[1], proxies[2]},
			want:   baseDiffers,
		},
		"a dataplane came back to those that stayed, and another policy": {
			delete: []resource.ID{dataplaneID("api-1"), dataplaneID("web-1")},
			upsert: []string{proxies[0], proxies[1], slower},
			want:   baseDiffers,
		},
		"the whole mesh came back": {
			delete: []resource.ID{dataplaneID("web-1"), dataplaneID("web-2"), dataplaneID("api-1"), timeoutID("base"), timeoutID("other")},
			upsert: []string{world},
		},
		"resources are at other lines": {
			upsert: []string{"\n\n\n" + world},
		},
		"a policy changed, and others are at other lines": {
			upsert: []string{"\n\n\n" + strings.Replace(world, "1s", "2s", 1)},
			want:   baseDiffers,
		},
		"a policy came back": {
			delete: []resource.ID{timeoutID("base"), timeoutID("other")},
			upsert: []string{world},
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t, world)
			before := e.View()
			for _, id := range c.delete {
				apply(t, e, core.Batch{Delete: []resource.ID{id}})
			}
			for _, text := range c.upsert {
				apply(t, e, core.Batch{Upsert: resourcetest.Decode(t, text)})
			}
			set := resourcetest.Decode(t, "\n"+world)
			stranger, err := core.Options{Semantics: core.TargetRef}.NewView(t.Context(), kinds.All(), set)
			if err != nil {
				t.Fatal(err)
			}
			for from, v := range map[string]*core.View{"the engine's": before, "a stranger's": stranger} {
				if diff := cmp.Diff(c.want, changesText(core.Commit{Before: v, After: e.View()})); diff != "" {
					t.Errorf("from %s view: %s", from, diff)
				}
				checkEdited(t, v, e.View())
				checkEdited(t, e.View(), v)
				back := changesText(core.Commit{Before: e.View(), After: v})
				for i := range back {
					back[i] = strings.Replace(back[i], "left", "joined", 1)
				}
				if diff := cmp.Diff(c.want, back); diff != "" {
					t.Errorf("back to %s view: %s", from, diff)
				}
			}
		})
	}
}
