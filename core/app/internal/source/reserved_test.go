package source_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/meshmatch/meshmatch/core/app/internal/source"
	"github.com/meshmatch/meshmatch/core/app/internal/source/sourcetest"
	"github.com/meshmatch/meshmatch/core/resource"
)

// A MeshIdentity or a Mesh that does not load keeps the Secrets of its CA from proxies, which it
// may name in any field. That is so while an earlier version stays in effect, for a Secret in another
// store, and for a server that starts without the store (SPEC 17.4).
func TestSecretsOfCAsThatDoNotLoad(t *testing.T) {
	identity := func(name, privateKey string) string {
		return `{"type": "MeshIdentity", "mesh": "default", "name": "` + name + `", "spec": {"selector": {"dataplane": {"matchLabels": {}}}, "provider": {"type": "Bundled", "bundled": ` + privateKey + `}}}`
	}
	const ofKey = `{"ca": {"certificate": {"type": "Secret", "secretRef": {"kind": "Secret", "name": "key"}}, "privateKey": {"type": "Secret", "secretRef": {"kind": "Secret", "name": "key"}}}}`
	id := func(kind, name string) resource.ID { return resource.ID{Kind: kind, Mesh: "default", Name: name} }
	mesh := resource.ID{Kind: "Mesh", Name: "default"}
	for name, c := range map[string]struct {
		edits []map[resource.ID]string
		given string
	}{
		"an identity that loads":      {[]map[resource.ID]string{{id("MeshIdentity", "i"): identity("i", ofKey)}}, "g-private-key g-root-ca key other"}, // the mesh reserves it
		"an unknown field":            {[]map[resource.ID]string{{id("MeshIdentity", "i"): identity("i", ofKey[:len(ofKey)-1]+`, "no": 1}`)}}, "g-private-key g-root-ca other"},
		"a misspelled name":           {[]map[resource.ID]string{{id("MeshIdentity", "i"): identity("i", `{"ca": {"privateKey": {"secretRef": {"nmae": "key"}}}}`)}}, "g-private-key g-root-ca other"},
		"a generated CA":              {[]map[resource.ID]string{{id("MeshIdentity", "g"): identity("g", `{"autogenerate": 1}`)}}, "key other"},
		"a text that is not JSON":     {[]map[resource.ID]string{{id("MeshIdentity", "i"): "type: ]"}}, ""},
		"a field twice":               {[]map[resource.ID]string{{id("MeshIdentity", "i"): `{"type": 1, "type": "key"}`}}, ""},
		"one of another mesh":         {[]map[resource.ID]string{{{Kind: "MeshIdentity", Mesh: "m", Name: "i"}: "{key"}}, "g-private-key g-root-ca key other"},
		"an earlier version is good":  {[]map[resource.ID]string{{id("MeshIdentity", "i"): identity("i", `{"autogenerate": {"enabled": true}}`)}, {id("MeshIdentity", "i"): identity("i", ofKey+`, "no": 1`)}}, "g-private-key g-root-ca other"},
		"it is mended":                {[]map[resource.ID]string{{id("MeshIdentity", "i"): "["}, {id("MeshIdentity", "i"): identity("i", ofKey)}}, "g-private-key g-root-ca key other"},
		"it is deleted":               {[]map[resource.ID]string{{id("MeshIdentity", "i"): "["}, {id("MeshIdentity", "i"): ""}}, "g-private-key g-root-ca key other"},
		"a Mesh":                      {[]map[resource.ID]string{{mesh: `{"type": "Mesh", "name": "default", "mtls": {"enabledBackend": 1, "backends": [{"conf": {"key": {"secret": "key"}}}]}}`}}, "g-private-key g-root-ca other"},
		"a Mesh that is not JSON":     {[]map[resource.ID]string{{mesh: "["}}, ""},
		"a policy, and a destination": {[]map[resource.ID]string{{id("MeshTimeout", "t"): "[key", id("MeshExternalService", "e"): `{"key": "key"}`}}, "g-private-key g-root-ca key other"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for _, stores := range []int{1, 2} {
					secrets, keeper := sourcetest.NewMemory(), source.NewStoreKeeper(t.TempDir(), "store")
					for _, s := range []string{"key", "other", "g-root-ca", "g-private-key"} {
						secrets.Put(map[resource.ID]string{id("Secret", s): `{"type": "Secret", "mesh": "default", "name": "` + s + `", "data": "YQ=="}`})
					}
					identities, watched := secrets, source.Source(&source.Stored{Store: secrets, Loader: sourcetest.Loader(), Keeper: keeper})
					if stores == 2 {
						identities = sourcetest.NewMemory()
						watched = source.Join(&source.Stored{Store: identities, Loader: sourcetest.Loader()}, watched)
					}
					given := ""
					ctx, cancel := context.WithCancel(t.Context())
					ended := make(chan struct{})
					go func() {
						defer close(ended)
						for u, err := range watched.Watch(ctx) {
							if err != nil {
								t.Error(err)
								continue
							}
							if err := u.Recording.Keep(); err != nil {
								t.Error(err)
							}
							given = secretsOf(u.Set)
						}
					}()
					for _, edit := range c.edits {
						identities.Put(edit)
						time.Sleep(10 * time.Second)
					}
					cancel()
					<-ended
					if given != c.given {
						t.Errorf("of %d stores: proxies may get %q, want %q", stores, given, c.given)
					}
					if stores == 2 {
						continue // the store of the Secrets has no identity
					}
					secrets.Lose()
					for u := range (&source.Stored{Store: secrets, Loader: sourcetest.Loader(), Keeper: keeper}).Watch(t.Context()) {
						if u == nil {
							continue
						}
						if got := secretsOf(u.Set); got != c.given {
							t.Errorf("without the store: proxies may get %q, want %q", got, c.given)
						}
						break
					}
				}
			})
		})
	}
}

func secretsOf(set *resource.Set) string {
	var names []string
	for _, o := range set.Objects {
		if id := o.Identity().ID; id.Kind == resource.SecretKind {
			names = append(names, id.Name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}
