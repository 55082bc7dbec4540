package items_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/items"
	"github.com/meshmatch/meshmatch/core/internal/resourcetest"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
)

const destinations = `
{type: MeshService, name: web, labels: {k8s.kuma.io/namespace: a, team: red}, spec: {ports: [{port: 80}, {port: 81, name: admin}]}}
---
{type: MeshService, name: api, labels: {k8s.kuma.io/namespace: a, kuma.io/display-name: web, team: blue}, spec: {ports: [{port: 80}]}}
---
{type: MeshExternalService, name: web, labels: {team: red}, spec: {match: {type: HostnameGenerator, port: 80}, endpoints: [{address: a.example, port: 80}]}}
`

// randomTarget returns a targetRef of a `to` item that may find one of the destinations.
func randomTarget(random *rand.Rand) resource.TargetRef {
	pick := func(values ...string) string { return values[random.IntN(len(values))] }
	t := resource.TargetRef{Kind: resource.TargetMeshService}
	switch random.IntN(7) {
	case 0:
		return resource.TargetRef{Kind: resource.TargetMesh}
	case 1:
		return resource.TargetRef{Kind: resource.TargetMeshHTTPRoute, Name: pick("web", "api")}
	case 2:
		t.Kind = resource.TargetMeshExternalService
	case 3:
		return resource.TargetRef{Kind: resource.TargetMeshService, Name: pick("web_a_svc", "web_a_svc_80", "web_a_svc_9", "web_b_svc", "api_a_svc_81")}
	}
	if random.IntN(2) == 0 {
		t.Name, t.SectionName = pick("web", "api"), pick("", "admin")
		return t
	}
	labels := map[string]string{}
	for range 1 + random.IntN(2) {
		labels[pick(resource.NamespaceLabel, resource.DisplayNameLabel, "team")] = pick("a", "web", "api", "red", "blue")
	}
	t.Labels = resource.NewTags(labels)
	return t
}

type filedItem struct {
	number int
	target resource.TargetRef
}

// After random additions and removals, the lists of the selectors of a destination contain
// each item that finds it, once and in order, and an earlier version is as it was.
func TestFiled(t *testing.T) {
	set := resourcetest.Decode(t, destinations)
	from := &resource.Policy{Meta: resource.Meta{ID: resource.ID{Kind: "MeshTimeout", Mesh: "default", Name: "p"}, Labels: resource.Tags{{Key: resource.NamespaceLabel, Value: "a"}}}}
	byNumber := func(a, b *filedItem) int { return cmp.Compare(a.number, b.number) }
	for _, s := range []semantics.Semantics{semantics.TargetRef, semantics.Kuma, semantics.Kuma3} {
		random := rand.New(rand.NewPCG(1, uint64(s)))
		found := 0
		check := func(filed *items.Filed[*filedItem], all []*filedItem) {
			t.Helper()
			for _, d := range resource.ObjectsOf[resource.Destination](set.Objects) {
				finds := func(it *filedItem) bool { _, finds := items.Finds(s, from, &it.target, d); return finds }
				var got, want []*filedItem
				for selector := range items.OfDestination(s, d) {
					list := filed.ItemsFor(selector)
					if !slices.IsSortedFunc(list, byNumber) {
						t.Fatalf("%v: the items of %v are not in order", s, selector)
					}
					for _, it := range list {
						if finds(it) {
							got = append(got, it)
						}
					}
				}
				for _, it := range all {
					if finds(it) {
						want = append(want, it)
					}
				}
				slices.SortFunc(got, byNumber)
				slices.SortFunc(want, byNumber)
				if !slices.Equal(got, want) {
					t.Fatalf("%v: %d items find %v, want %d", s, len(got), d.Identity().ID, len(want))
				}
				found += len(want)
			}
			everywhere := 0
			for _, it := range all {
				if it.target.Kind == resource.TargetMesh {
					everywhere++
				}
			}
			if n := len(filed.ItemsFor(items.Everywhere)); n != everywhere {
				t.Fatalf("%v: %d items for every outbound, want %d", s, n, everywhere)
			}
		}
		filed := items.NewFiled[*filedItem]()
		var all []*filedItem
		for range 300 {
			editor := filed.Edit(s, byNumber)
			earlier := slices.Clone(all)
			for range 1 + random.IntN(4) {
				if len(all) > 20 || len(all) > 0 && random.IntN(3) == 0 {
					at := random.IntN(len(all))
					gone := all[at]
					editor.Remove(&gone.target, func(it *filedItem) bool { return it == gone })
					all = slices.Delete(all, at, at+1)
					continue
				}
				added := &filedItem{random.IntN(1 << 40), randomTarget(random)}
				editor.Add(&added.target, added)
				all = append(all, added)
			}
			next := editor.Commit()
			check(filed, earlier)
			check(next, all)
			filed = next
		}
		if found == 0 {
			t.Errorf("%v: no item found a destination", s)
		}
	}
}
