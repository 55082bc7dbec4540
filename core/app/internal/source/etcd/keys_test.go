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
		"unusable key x", "MeshTimeout", "other", "..", "\xff", "MeshIdentity", "x\x00", "Mesh",
	}
	documents = []string{
		`{"type": "MeshTrafficPermission", "mesh": "default", "name": "deny", "spec": {"rules": [{"default": {"deny": [{"method": "GET"}]}}]}}`,
		`{"type": "MeshTrafficPermission", "mesh": "default", "name": "deny", "spec": {"rules": [{"default": {"allow": [{"method": "GET"}]}}]}}`,
		`{"type": "MeshTrafficPermission", "mesh": "default", "name": "deny", "spec": {"rules": 1}}`,
		`{"type": "MeshTrafficPermission", "mesh": "default", "name": "unusable key x", "spec": {"rules": [{"default": {"deny": [{"method": "GET"}]}}]}}`,
		`{"type": "MeshTimeout", "mesh": "default", "name": "deny", "spec": {"to": [{"default": {"idleTimeout": "1s"}}]}}`,
		`MeshTrafficPermission {`, ``,
		`{"type": "MeshIdentity", "mesh": "default", "name": "deny", "spec": {"selector": 1, "provider": {"bundled": {"ca": {"privateKey": {"secretRef": {"name": "key"}}}}}}}`,
		`MeshIdentity { key`,
		`{"type": "Mesh", "name": "deny", "mtls": {"backends": [{"conf": {"key": {"secret": "key"}}}]}}`,
	}
	secretKey = Key(resource.ID{Kind: "Secret", Mesh: "default", Name: "key"})
	goodKey   = Key(resource.ID{Kind: "MeshTrafficPermission", Mesh: "default", Name: "deny"})
)

// FuzzKeys puts and deletes objects under any keys. The permission under its own key stays in
// effect, and a server that has followed all changes has what a server has that starts, with the
// store or with the state that it kept (SPEC 14.3). A Secret is in no state while a document that
// does not load may be of a CA and name it (SPEC 17.4).
//
//fuzz:executions 300
func FuzzKeys(f *testing.F) {
	f.Add([]byte{0, 2, 3, 6, 0, 0, 2, 3, 6, 6})       // a key that is the one of the permission, and its deletion
	f.Add([]byte{0, 2, 3, 7, 2, 0, 2, 3, 7, 6})       // another spelling of it
	f.Add([]byte{12, 5, 5, 5, 2, 12, 5, 5, 5, 6})     // a key without its parts
	f.Add([]byte{0, 2, 3, 12, 3, 16, 4, 4, 4, 0})     // a claim of the identity of an unusable key
	f.Add([]byte{0, 2, 3, 6, 1, 0, 2, 3, 8, 0, 0, 1}) // a short one
	random := rand.New(rand.NewPCG(48, 2))
	for range 30 {
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
		put(secretKey, `{"type": "Secret", "mesh": "default", "name": "key", "data": "YQ=="}`)
		keeper := source.NewStoreKeeper(t.TempDir(), "memory")
		states := make(chan *source.Update, 100)
		go func() {
			defer close(states)
			for update, err := range (&source.Stored{Store: memory, Loader: loader, Moment: 1, Keeper: keeper}).Watch(ctx) {
				if err == nil {
					if err := update.Recording.Keep(); err != nil {
						t.Error(err)
					}
					states <- update
				}
			}
		}()
		names, mayName := map[string]bool{}, map[string]bool{} // the keys of documents that name the Secret
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
			text := documents[int(edit[4])%len(documents)]
			put(key, text)
			id, flaw := parseKey(key)
			isOfCA := strings.Contains(text, "MeshIdentity") || strings.Contains(text, "mtls")
			names[key] = isOfCA && (flaw != "" || id.Mesh == "default")
			mayName[key] = text != "" && (isOfCA || strings.HasPrefix(key, "Mesh"))
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
			given := strings.Contains(got, "Secret")
			for key, is := range names {
				if is && given {
					t.Fatalf("proxies get a Secret that %q names", key)
				}
			}
			if !given && !slices.Contains(slices.Collect(maps.Values(mayName)), true) {
				t.Fatalf("after %q, proxies do not get a Secret that no document names", key)
			}
		}
		cancel()
		for range states { // until it has kept its state
		}
		lost := sourcetest.NewMemory()
		lost.Lose()
		for update, err := range (&source.Stored{Store: lost, Loader: loader, Keeper: keeper, Patience: 1}).Watch(t.Context()) {
			if err != nil {
				continue
			}
			if got, want := described(update.Set), described(followed.Set); got != want {
				t.Fatalf("without the store, a server that starts has\n%s\nand before it had\n%s", got, want)
			}
			break
		}
	})
}

// described returns the policies and the Secrets of a set. No two policies have one identity.
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
	for _, o := range set.Objects {
		if id := o.Identity().ID; id.Kind == resource.SecretKind {
			list[id.String()] = "given"
		}
	}
	var lines []string
	for _, id := range slices.Sorted(maps.Keys(list)) {
		lines = append(lines, id+": "+list[id])
	}
	return strings.Join(lines, "\n")
}
