package server

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// The message of a NACK names a resource if it contains the whole name, not a part of a
// longer one.
func TestNamesResource(t *testing.T) {
	for _, c := range []struct {
		text, name string
		want       bool
	}{
		{"a: bad address", "a", true},
		{"bad cluster a", "a", true},
		{"bad cluster a.", "a", true},
		{"bad cluster a:", "a", true},
		{"clusters 'a', 'b'", "a", true},
		{"a.b: bad", "a", false},
		{"a:80: bad", "a", false},
		{"za: bad", "a", false},
		{"az: bad", "a", false},
		{"Aa: bad", "a", false},
		{"aA: bad", "a", false},
		{"Za: bad", "a", false},
		{"aZ: bad", "a", false},
		{"0a: bad", "a", false},
		{"a0: bad", "a", false},
		{"9a: bad", "a", false},
		{"a9: bad", "a", false},
		{"-a, a-, _a, /a, ?a, =a, &a", "a", false},
		{"ab, then a", "a", true}, // a later place
		{"bad", "", false},
	} {
		if got := namesResource(c.text, c.name); got != c.want {
			t.Errorf("%q names %q: %v, want %v", c.text, c.name, got, c.want)
		}
	}
}

// A rejection holds as long as the client should hold the content: as a resource or as a
// variant, by name and version.
func TestRejectedContentIsWanted(t *testing.T) {
	w := &watch{
		want:         []*wire.Resource{{Name: "a", Version: "1"}},
		wantVariants: []wire.Variant{{Resource: &wire.Resource{Name: "b", Version: "1"}}, {Resource: &wire.Resource{Name: "b", Version: "2"}}},
	}
	for r, want := range map[rejection]bool{
		{"a", "1"}: true, {"a", "2"}: false,
		{"b", "1"}: true, {"b", "2"}: true, {"b", "3"}: false,
		{"c", "1"}: false,
	} {
		if got := w.isWanted(r); got != want {
			t.Errorf("%v is wanted: %v, want %v", r, got, want)
		}
	}
	w.rejected = []rejection{{"a", "1"}, {"a", "2"}, {"b", "2"}, {"c", "1"}}
	if w.prune(); len(w.rejected) != 2 || w.rejected[0].name != "a" || w.rejected[1].name != "b" {
		t.Errorf("%v are left, want the rejections of a and b", w.rejected)
	}
}

// An answer to a response is about the names that it sends or removes.
func TestMessageMentions(t *testing.T) {
	m := &message{
		resources: []*wire.Resource{{Name: "sent"}},
		variants:  []wire.Variant{{Resource: &wire.Resource{Name: "variant"}}},
		removed:   []string{"removed"},
	}
	for name, want := range map[string]bool{"sent": true, "variant": true, "removed": true, "other": false, "": false} {
		if got := m.mentions(name); got != want {
			t.Errorf("%q is mentioned: %v, want %v", name, got, want)
		}
	}
}

// The error of a name says why the stream is not served.
func TestFailuresSayWhy(t *testing.T) {
	for want, s := range map[string]*stream{
		"the client may not have the resources of this dataplane: the SPIFFE ID of its certificate is not the one that a MeshIdentity gives the dataplane": {denied: true, node: Node{ID: "n"}},
		"the dataplane has no such resource":                {node: Node{ID: "n"}, snapshot: new(wire.Snapshot)},
		"there is no dataplane with the id of the node":     {node: Node{ID: "n"}, known: true},
		"there is no dataplane with the id of the node yet": {node: Node{ID: "n"}, server: new(Server)},
		"the stream has no node":                            {},
	} {
		if got := s.failure("a"); got.text != want || got.name != "a" {
			t.Errorf("%q has the error %q, want %q", got.name, got.text, want)
		}
	}
}

// As many resources as variants have a version of their own, not the version of nothing.
func TestVersionOfResourcesAndVariants(t *testing.T) {
	r := func(name, version string) *wire.Resource { return &wire.Resource{Name: name, Version: version} }
	versions := map[string]bool{versionOf(nil, nil): true}
	for _, version := range []string{"1", "2"} {
		v := versionOf([]*wire.Resource{r("a", "1")}, []wire.Variant{{Resource: r("b", version)}})
		if versions[v] {
			t.Errorf("two states have the version %q", v)
		}
		versions[v] = true
	}
}
