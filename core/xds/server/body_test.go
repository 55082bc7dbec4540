package server

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"weak"

	"google.golang.org/grpc/codes"

	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// sized returns a message that has so many bytes.
func sized(bytes int, name string) *message {
	m := &message{url: "x", resources: []*wire.Resource{wire.New(wire.ClusterType, name, nil)}}
	m.removed = []string{strings.Repeat("x", bytes-m.size()-5)} // its tag and length have 5 bytes
	return m
}

// Streams with equal messages share one body, up to limits on what is kept.
func TestBodyCache(t *testing.T) {
	var c bodyCache
	shared := func(m *message) bool {
		first := c.get(m)
		return c.get(m) == first
	}
	texts := func(failures, removed, removedVariants int) *message {
		return &message{failures: make([]failure, failures), removed: make([]string, removed), removedVariants: make([]removedVariant, removedVariants)}
	}
	for _, test := range []struct {
		what    string
		message *message
		want    bool
	}{
		{"no text of clients", &message{url: "x"}, true},
		{"as many texts as the limit", texts(maxShared-2, 1, 1), true},
		{"one error more", texts(maxShared-1, 1, 1), false},
		{"one removed name more", texts(1, maxShared-1, 1), false},
		{"one removed locator more", texts(1, 1, maxShared-1), false},
		{"a quarter of the limit", sized(cacheBytes/4, "a"), true},
		{"one byte more", sized(cacheBytes/4+1, "a"), false},
	} {
		if got := shared(test.message); got != test.want {
			t.Errorf("%s: the body is shared: %v, want %v", test.what, got, test.want)
		}
	}

	c = bodyCache{}
	quarters := []*message{sized(cacheBytes/4, "a"), sized(cacheBytes/4, "b"), sized(cacheBytes/4, "c"), sized(cacheBytes/4, "d")}
	var kept []*body
	for _, m := range quarters {
		kept = append(kept, c.get(m))
	}
	for i, m := range quarters {
		if c.get(m) != kept[i] {
			t.Errorf("body %d of as many bytes as the limit is not kept", i)
		}
	}
	small := c.get(&message{url: "y"})
	if c.get(quarters[3]) == kept[3] {
		t.Error("past the limit, the bodies are kept")
	}
	if c.get(&message{url: "y"}) != small {
		t.Error("the body that passes the limit is not kept")
	}
	if c.size != small.size+cacheBytes/4 {
		t.Errorf("%d bytes are counted, want those of the two bodies", c.size)
	}
}

// What no stream uses is not kept until the next state.
func TestUnusedBodiesAreCollected(t *testing.T) {
	var c bodyCache
	message := sized(1000, "used")
	used, unused := c.get(message), weak.Make(c.get(sized(1000, "unused")))
	runtime.GC()
	if unused.Value() != nil {
		t.Error("a body that no stream uses is kept")
	}
	if c.get(message) != used {
		t.Error("a body that a stream uses is not shared")
	}
}

// The version of a slice that many streams share is computed once. With variants it covers
// them too.
func TestVersionsAreShared(t *testing.T) {
	var c bodyCache
	resources := []*wire.Resource{wire.New(wire.ClusterType, "a", []byte("1"))}
	variants := []wire.Variant{{Resource: wire.New(wire.ClusterType, "b", []byte("1"))}}
	version := c.version(resources, nil)
	if version != versionOf(resources, nil) || version == c.version(resources, variants) {
		t.Errorf("the version is %s, and with a variant %s", version, c.version(resources, variants))
	}
	if len(c.versions) != 1 {
		t.Errorf("%d versions are kept, want 1", len(c.versions))
	}
	other := make([]*wire.Resource, maxVersions)
	for i := range other {
		other[i] = resources[0]
		c.version(other[i:i+1], nil)
		if len(c.versions) > maxVersions {
			t.Fatalf("%d versions are kept, the limit is %d", len(c.versions), maxVersions)
		}
	}
	if _, kept := c.versions[sliceKey{&other[maxVersions-2], 1}]; kept {
		t.Error("past the limit, the versions are kept")
	}
	if _, kept := c.versions[sliceKey{&other[maxVersions-1], 1}]; !kept {
		t.Error("the version that passes the limit is not kept")
	}
}

// Two messages are equal only if nothing differs: two that have one hash must not share a
// body.
func TestMessagesAreEqual(t *testing.T) {
	resource := func(name string) *wire.Resource { return wire.New(wire.ClusterType, name, nil) }
	a, b := resource("a"), resource("b")
	whole := func() *message {
		return &message{
			protocol: delta, url: "u", version: "v",
			resources: []*wire.Resource{a}, variants: []wire.Variant{{Resource: a}},
			removed: []string{"r"}, removedVariants: []removedVariant{{"n", "c"}}, failures: []failure{{"n", codes.NotFound, "t"}},
		}
	}
	first, second := whole(), whole()
	if !first.equal(second) || first.hash() != second.hash() {
		t.Error("equal messages differ")
	}
	for i, change := range []func(*message){
		func(m *message) { m.protocol = stateOfTheWorld },
		func(m *message) { m.url = "" },
		func(m *message) { m.version = "" },
		func(m *message) { m.resources = []*wire.Resource{b} },
		func(m *message) { m.variants = []wire.Variant{{Resource: b}} },
		func(m *message) { m.variants = []wire.Variant{{Resource: a, Constraints: "c"}} },
		func(m *message) { m.removed = []string{"x"} },
		func(m *message) { m.removedVariants = []removedVariant{{"n", "x"}} },
		func(m *message) { m.failures = []failure{{"n", codes.PermissionDenied, "t"}} },
		func(m *message) { m.failures = nil },
	} {
		other := whole()
		change(other)
		if other.equal(whole()) || whole().equal(other) {
			t.Errorf("change %d: the messages are equal", i)
		}
	}
}

// Elements are added to a response up to exactly its limit; one that is larger is sent alone.
func TestResponseHasRoom(t *testing.T) {
	for _, test := range []struct {
		sizes []int
		want  string
	}{
		{[]int{4, 6, 1}, "[true true false]"},
		{[]int{4, 7, 1}, "[true false false]"}, // what comes later keeps its place
		{[]int{11, 1}, "[true false]"},
	} {
		c := composer{limit: 10}
		var got []bool
		for _, size := range test.sizes {
			got = append(got, c.fits(size))
		}
		if fmt.Sprint(got) != test.want {
			t.Errorf("elements of %v bytes fit into 10: %v, want %s", test.sizes, got, test.want)
		}
	}
}

// An id is shortened for the log only if it is longer than the limit.
func TestClip(t *testing.T) {
	for text, want := range map[string]string{"12345678": "12345678", "123456789": "12345...", "1234ä6789": "1234..."} {
		if got := clip(text, 8); got != want {
			t.Errorf("%s is %s in the log, want %s", text, got, want)
		}
	}
}
