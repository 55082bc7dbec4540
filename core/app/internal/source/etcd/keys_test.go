package etcd

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/app/internal/source"
	"github.com/meshmatch/meshmatch/core/app/internal/source/sourcetest"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// keyParts and documents are what FuzzKeys makes keys and documents of: spellings of one
// identity, and identities that a document claims elsewhere.
var (
	keyParts = []string{
		"MeshTrafficPermission", "Mesh%54rafficPermission", "default", "-", "%2D", "", "deny", "d%65ny", "d%45ny", "%zz", "deny%00", "a b",
		"unusable key x", "MeshTimeout", "other", "..", "\xff",
	}
	documents = []string{
		`{"type": "MeshTrafficPermission", "mesh": "default", "name": "deny", "spec": {"rules": [{"default": {"deny": [{"method": "GET"}]}}]}}`,
		`{"type": "MeshTrafficPermission", "mesh": "default", "name": "deny", "spec": {"rules": [{"default": {"allow": [{"method": "GET"}]}}]}}`,
		`{"type": "MeshTrafficPermission", "mesh": "default", "name": "deny", "spec": {"rules": 1}}`,
		`{"type": "MeshTrafficPermission", "mesh": "default", "name": "unusable key x", "spec": {"rules": [{"default": {"deny": [{"method": "GET"}]}}]}}`,
		`{"type": "MeshTimeout", "mesh": "default", "name": "deny", "spec": {"to": [{"default": {"idleTimeout": "1s"}}]}}`,
		`MeshTrafficPermission {`, ``,
	}
	goodKey = Key(resource.ID{Kind: "MeshTrafficPermission", Mesh: "default", Name: "deny"})
)

// FuzzKeys puts and deletes objects under any keys. The permission under its own key stays in
// effect, and a server that has followed all changes has what a server has that starts (SPEC
// 14.3).
//
//fuzz:executions 300
func FuzzKeys(f *testing.F) {
	f.Add([]byte{0, 2, 3, 6, 0, 0, 2, 3, 6, 6})       // a key that is the one of the permission, and its deletion
	f.Add([]byte{0, 2, 3, 7, 2, 0, 2, 3, 7, 6})       // another spelling of it
	f.Add([]byte{12, 5, 5, 5, 2, 12, 5, 5, 5, 6})     // a key without its parts
	f.Add([]byte{0, 2, 3, 12, 3, 16, 4, 4, 4, 0})     // a claim of the identity of an unusable key
	f.Add([]byte{0, 2, 3, 6, 1, 0, 2, 3, 8, 0, 0, 1}) // a short one
	random := rand.New(rand.NewPCG(48, 2))
	for range 100 {
		edits := make([]byte, 40)
		for i := range edits {
			edits[i] = byte(random.IntN(256))
		}
		f.Add(edits)
	}
	f.Fuzz(func(t *testing.T, edits []byte) {
		if len(edits) > 60 {
			return
		}
		memory := sourcetest.NewMemory()
		put := func(key, text string) {
			o := source.Object{Key: key}
			if o.ID, o.Flaw = parseKey(key); text != "" {
				o.Data = []byte(text)
			}
			memory.PutObjects(o)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		loader := &resource.Loader{Kinds: kinds.All()}
		put(goodKey, documents[0])
		states := make(chan *source.Update, 100)
		go func() {
			defer close(states)
			for update, err := range (&source.Stored{Store: memory, Loader: loader, Moment: 1}).Watch(ctx) {
				if err == nil {
					states <- update
				}
			}
		}()
		followed := <-states
		for edit := range slices.Chunk(edits, 5) {
			if len(edit) < 5 {
				continue
			}
			var parts []string
			for _, b := range edit[:4] {
				parts = append(parts, keyParts[int(b)%len(keyParts)])
			}
			if edit[1]%7 == 5 {
				parts = parts[:1+edit[2]%3]
			}
			key := strings.Join(parts, "/")
			if key == goodKey || isOwn(key) {
				continue
			}
			put(key, documents[int(edit[4])%len(documents)])
			for followed = range states {
				if followed.Revision == memory.Revision() {
					break
				}
			}
			var started *source.Update
			for update, err := range (&source.Stored{Store: memory, Loader: loader}).Watch(ctx) {
				if err != nil {
					t.Fatal(err)
				}
				started = update
				break
			}
			got, want := described(followed.Set), described(started.Set)
			if got != want {
				t.Fatalf("after %q, a server that followed has\n%s\nand one that starts has\n%s", key, got, want)
			}
			if !strings.Contains(got, "deny readable denies") {
				t.Fatalf("%q takes the permission away: %s", key, got)
			}
		}
	})
}

// described returns the policies of a set. No two have one identity.
func described(set *resource.Set) string {
	list := map[string]string{}
	for _, p := range set.Policies {
		what := "unreadable"
		if !p.Unreadable {
			what = "readable"
			for _, rule := range p.Rules {
				if strings.Contains(fmt.Sprintf("%+v", rule.Conf), "Deny:[{") {
					what += " denies"
				}
			}
		}
		if _, twice := list[p.ID.String()]; twice {
			what = "TWICE"
		}
		list[p.ID.String()] = p.Name + " " + what
	}
	var lines []string
	for _, id := range slices.Sorted(maps.Keys(list)) {
		lines = append(lines, id+": "+list[id])
	}
	return strings.Join(lines, "\n")
}
