package resource_test

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// TestCache loads the same files again. Unchanged resources are the same
// pointers, and the result equals the result of a load without a cache.
func TestCache(t *testing.T) {
	const web, webPort81 = "{type: Dataplane, name: web, networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: web}}]}}",
		"{type: Dataplane, name: web, networking: {address: 10.0.0.1, inbound: [{port: 81, tags: {kuma.io/service: web}}]}}"
	const api = "{type: Dataplane, name: api, networking: {address: 10.0.0.2}, probes: {}}"
	files := func(web, api string) []resource.Input {
		return []resource.Input{{Name: "web.yaml", Data: []byte(web)}, {Name: "api.yaml", Data: []byte(api)}}
	}
	loader := resource.Loader{Kinds: kinds.All(), Cache: new(resource.Cache)}
	first, err := loader.Decode(t.Context(), files(web, api)...)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name             string
		inputs           []resource.Input
		sameAPI, sameWeb bool
		fails            bool
	}{
		{"nothing changed", files(web, api), true, true, false},
		{"one file changed", files(webPort81, api), true, false, false},
		{"a name moved to another file", files(api, web), false, false, false},
		{"back", files(web, api), false, false, false},
		{"a file that is invalid", files(web, "{type: Dataplane}"), false, false, true},
		{"the same invalid file", files(web, "{type: Dataplane}"), false, false, true},
		{"a duplicate in another file", files(web, web), false, false, true},
	} {
		set, err := loader.Decode(t.Context(), c.inputs...)
		fresh := resource.Loader{Kinds: loader.Kinds}
		want, errWant := fresh.Decode(t.Context(), c.inputs...)
		if (err != nil) != c.fails || err != nil && err.Error() != errWant.Error() {
			t.Errorf("%s: got error %v, without a cache %v", c.name, err, errWant)
		}
		if err != nil {
			continue
		}
		if got := set.Dataplanes[0] == first.Dataplanes[0]; got != c.sameAPI {
			t.Errorf("%s: api is the same: %v", c.name, got)
		}
		if got := set.Dataplanes[1] == first.Dataplanes[1]; got != c.sameWeb {
			t.Errorf("%s: web is the same: %v", c.name, got)
		}
		if len(set.Dataplanes) != len(want.Dataplanes) || len(set.Warnings) != len(want.Warnings) || len(set.Warnings) != 1 {
			t.Errorf("%s: %d dataplanes and %d warnings, without a cache %d and %d", c.name, len(set.Dataplanes), len(set.Warnings), len(want.Dataplanes), len(want.Warnings))
		}
		if got, want := set.Dataplanes[1].Inbounds[0].Port, want.Dataplanes[1].Inbounds[0].Port; got != want {
			t.Errorf("%s: port %d, without a cache %d", c.name, got, want)
		}
	}
}
