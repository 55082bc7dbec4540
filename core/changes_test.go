package core_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/resourcetest"
	"github.com/meshmatch/meshmatch/core/resource"
)

// changesText renders the changes of a commit, one line for each.
func changesText(c core.Commit) []string {
	var lines []string
	for _, change := range c.Changes() {
		line := change.Action.String()
		for _, d := range change.Dataplanes() {
			line += " " + d.Name
		}
		if change.OwnResource {
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
		dataplaneText("api-1", "api", toBackend) + timeoutText("base", "", everyDataplane, forAll)
	for name, c := range map[string]struct {
		upsert string
		delete []resource.ID
		want   []string
	}{
		"a policy for every dataplane": {
			upsert: timeoutText("z", "", everyDataplane, `{default: {idleTimeout: 1s}}`),
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
			upsert: timeoutText("a", "", everyDataplane, forAll),
		},
		"a policy that selects no dataplane": {
			upsert: timeoutText("z", "", "kind: MeshService, name: missing", forAll),
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
			upsert: timeoutText("base", "team: red", everyDataplane, forAll),
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
		"what is known": {
			upsert: world,
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t, world)
			before := e.View()
			commit := apply(t, e, core.Batch{Upsert: resourcetest.Decode(t, c.upsert), Delete: c.delete})
			if diff := cmp.Diff(c.want, changesText(commit)); diff != "" {
				t.Error(diff)
			}
			if commit.Before != before {
				t.Error("before is another view")
			}
		})
	}
}

// A new version of an item may select other outbounds: those that it selected before
// change too.
func TestChangesOfAnItemsTarget(t *testing.T) {
	outbounds := `{port: 1, tags: {kuma.io/service: a, version: v1}}, {port: 2, tags: {kuma.io/service: a, version: v2}}, {port: 3, tags: {kuma.io/service: b, version: v1}}`
	item := func(target string) string {
		return timeoutText("one", "", everyDataplane, "{targetRef: {"+target+"}, default: {idleTimeout: 1s}}")
	}
	for name, c := range map[string]struct{ before, after, want string }{
		"a route of the service's name": {"kind: MeshService, name: b", "kind: MeshHTTPRoute, name: b", "MeshTimeout of outbound 2"},
		"another service":               {"kind: MeshServiceSubset, name: a, tags: {version: v1}", "kind: MeshServiceSubset, name: b, tags: {version: v1}", "MeshTimeout of outbound 0, MeshTimeout of outbound 2"},
		"another version":               {"kind: MeshServiceSubset, name: a, tags: {version: v1}", "kind: MeshServiceSubset, name: a, tags: {version: v2}", "MeshTimeout of outbound 0, MeshTimeout of outbound 1"},
		"any version":                   {"kind: MeshServiceSubset, name: a, tags: {version: v1}", "kind: MeshService, name: a", "MeshTimeout of outbound 1"},
		"everything":                    {"kind: MeshService, name: a", "kind: Mesh", "MeshTimeout of outbound 2"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t, dataplaneText("web-1", "web", outbounds)+item(c.before))
			commit := apply(t, e, core.Batch{Upsert: resourcetest.Decode(t, item(c.after))})
			if diff := cmp.Diff([]string{"changed web-1, by one, " + c.want}, changesText(commit)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
