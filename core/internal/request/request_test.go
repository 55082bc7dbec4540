package request

import (
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/resource"
)

func TestClientID(t *testing.T) {
	const id = "spiffe://td/a"
	for _, test := range []struct {
		name string
		uris []string
		want string
	}{
		{"no certificate", nil, ""},
		{"one", []string{id}, id},
		{"other schemes", []string{"kuma://version/v1", id, "https://td"}, id},
		{"other schemes only", []string{"https://td"}, ""},
		{"two", []string{id, "spiffe://td/b"}, ""},
		{"the same twice", []string{id, id}, ""},
		{"a comma in it", []string{id + ",b"}, ""},
		{"a comma in another one", []string{id, "kuma://a,b"}, ""},
	} {
		if got := ClientID(test.uris...); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestNewHeaders(t *testing.T) {
	got := NewHeaders(
		Header{"X-B", "1"}, Header{"x-a", " \ta "}, Header{"x-b", " 2"}, Header{"Cookie", "c=1"}, Header{"cookie", "d=2 "}, Header{":authority", "td"}, Header{"x-c", ""},
	)
	want := Headers{{"cookie", "c=1; d=2"}, {"host", "td"}, {"x-a", "a"}, {"x-b", "1,2"}, {"x-c", ""}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if value, present := got.Get("x-c"); value != "" || !present {
		t.Errorf("x-c: %q, %v", value, present)
	}
	if _, present := got.Get("x"); present || NewHeaders() != nil {
		t.Error("a header that was not sent is present")
	}
}

// Headers that Connection names are absent for the proxy.
func TestNominatedHeaders(t *testing.T) {
	got := NewHeaders(Header{"Connection", "close, X-A"}, Header{"x-a", "1"}, Header{"connection", "x-b"}, Header{"X-B", "2"}, Header{"x-c", "3"}, Header{"close", "4"})
	want := Headers{{"close", "4"}, {"connection", "close, X-A,x-b"}, {"x-c", "3"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := NewHeaders(Header{"connection", "connection"}); got != nil {
		t.Errorf("got %v", got)
	}
}

// The end-to-end tests compare many more paths with Envoy.
func TestNormalizePath(t *testing.T) {
	for target, want := range map[string]string{
		"": "", "*": "*", "/": "/", "/a?b/../c": "/a", "/a/b-_.~!$&'()*+,;=:@": "/a/b-_.~!$&'()*+,;=:@",
		"//a": "/a", "/a//b/": "/a/b/", "//": "//", "/a/..//": "//",
		"/./a": "/a", "/a/.": "/a/", "/a/..": "/", "/../a": "/a", "/a/b/../c": "/a/c", "/a/%2e%2E/b": "/b", "/...": "/...", "/a/..;x/b": "/b", "/a/.;x": "/a/",
		`/a\b`: "/a/b", "/%41%7e": "/A~", "/%c3%A4%25": "/%c3%A4%25", "/ä": "/%C3%A4", "/a b": "/a%20b", "/{|}^`\"<>": "/%7B%7C%7D%5E%60%22%3C%3E", "/%": "/%", "/%4": "/%4", "/%4%41": "/%254A",
		"/a%2Fb": "refused", "/a%5cb": "refused", "/a#b": "refused", "/a%00": "refused",
		"/a%2Fb/../c": "/c", "/a?%2F": "/a", "/%2%46": "/%252F", "/%%341": "/%2541", "/%%%341%": "/%%2541%", "/%%34%%351": "/%4%2551",
	} {
		got, ok := NormalizePath(target)
		if !ok {
			got = "refused"
		}
		if got != want {
			t.Errorf("%q: %q, want %q", target, got, want)
		}
	}
}

// The longest paths that a proxy accepts cost a few copies of them. They are in the logs
// that are replayed, where any client can put them.
func TestLongPaths(t *testing.T) {
	for _, part := range []string{"%", "%4", "%%341", "a/../", "./", "/", "%2e%2e/", `\`, "ä"} {
		path := "/" + strings.Repeat(part, 60_000/len(part))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		NormalizePath(path)
		runtime.ReadMemStats(&after)
		if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 150*uint64(len(path)) {
			t.Errorf("a path of %d bytes with %q: %d bytes are allocated", len(path), part, bytes)
		}
	}
}

// A match may require any path that a request can have after normalization,
// except // and paths with a percent sign that begins no escape (SPEC 7.2). It may require a
// path with parameters of a dot segment, which an inbound refuses (SPEC 11.2).
func TestPathsOfMatches(t *testing.T) {
	pieces := []string{"/", "/", "a", ".", "..", "//", "%2F", "%5c", "%41", "%C3", "%7e", `\`, "{", "~", ";x", "ä", " ", "\x7f", "!"}
	r := rand.New(rand.NewPCG(1, 2))
	possible := 0
	for range 20_000 {
		path := "/"
		for range r.IntN(5) {
			path += pieces[r.IntN(len(pieces))]
		}
		var sink diag.Sink
		m := conf.PathMatch{Type: conf.PathExact, Value: path}
		m.Validate(diag.Root(diag.GoValue("match"), &sink))
		normal, ok := NormalizePath(path)
		if accepted := sink.Err() == nil; accepted != ((ok || hasDotParameters(normal) && !hasEscape(normal, "%2F", "%5C")) && normal == path && path != "//") {
			t.Fatalf("%q is accepted: %v; a request has %q, %v: %v", path, accepted, normal, ok, sink.Err())
		} else if accepted {
			possible++
		}
	}
	if possible < 1_000 {
		t.Errorf("only %d paths are possible", possible)
	}
}

func TestScopes(t *testing.T) {
	exact, prefix, regex, present, absent := conf.HeaderExact, conf.HeaderPrefix, conf.HeaderRegex, conf.HeaderPresent, conf.HeaderAbsent
	for _, test := range []struct {
		how         *conf.HeaderMatchType
		want, value string
		// whether it holds for the whole value, for a run of its elements, and in a denial
		whole, runs, denial bool
	}{
		{&exact, "a", "a", true, true, true},
		{&exact, "a", "b, a ,c", false, true, true},
		{&exact, "a,c", "b,a,c", false, true, true},
		{&exact, "a", "ba,ab,b a", false, false, false},
		{&exact, "", "a,,b", false, true, true},
		{&exact, "", "a", false, false, false},
		{&prefix, "a", "ab", true, true, true},
		{&prefix, "a", "b,\tab,c", false, true, true},
		{&prefix, "a", "ba", false, false, false},
		{&prefix, "a ", "b, a c", false, true, true},
		{&regex, "a.", "ab", true, true, true},
		{&regex, "^a.$", "b, ab,c", false, true, true},
		{&regex, "a.", "b,abc", false, false, false},
		{&regex, "a.", "ä", false, false, true},
		{&regex, "(.*; )?a(; .*)?", "b; a; ", true, true, true}, // two lines of cookie and an empty one
		{&regex, "a; ", "b,a; ", false, false, false},
		{&regex, "..", "ä", true, true, true},
		{&present, "", "b", true, true, true},
		{&absent, "", "b", false, false, false},
	} {
		m := conf.Match{Headers: []conf.HeaderMatch{{Name: "X", Type: test.how, Value: &test.want}}}
		seen := NewSeen(&Request{Headers: Headers{{"x", test.value}}})
		holds := func(scope ValueScope) bool { return NewCondition(&m, scope, Expressions{}).Holds(&seen) }
		if whole, runs, denial := holds(Whole), holds(Runs), holds(Denial); whole != test.whole || runs != test.runs || denial != test.denial {
			t.Errorf("%s %q of %q: whole %v, runs %v, denial %v", *test.how, test.want, test.value, whole, runs, denial)
		}
	}
}

// ASCII letters are equal in both cases; no other characters are.
func TestServerNames(t *testing.T) {
	for _, test := range []struct {
		name, sni string
		want      bool
	}{
		{"Kilo.mesh", "kilo.mesh", true},
		{"Kilo.mesh", "KILO.Mesh", true},
		{"AMZ.mesh", "amz.mesh", true},
		{"amz.mesh", "AMZ.mesh", true},
		{"a-z.mesh", "a\rz.mesh", false},
		{"Kilo.mesh", "\u212ailo.mesh", false},
		{"Kilo.mesh", "", false},
		{"Kilo.mesh", "kilo.mes", false},
	} {
		name := conf.SNI(test.name)
		if got := Matches(&conf.Match{SNI: &name}, TCP, &Request{SNI: test.sni}, Whole); got != test.want {
			t.Errorf("%q and %q: %v", test.name, test.sni, got)
		}
	}
}

func TestProtocolOf(t *testing.T) {
	d := &resource.Dataplane{Inbounds: []resource.Inbound{
		{Port: 1, Protocol: "grpc"}, {Port: 2},
		{Port: 3, Ignored: true}, {Port: 3, Protocol: "http"}, {Port: 3}, // one listener
	}}
	for i, want := range []Protocol{HTTP, TCP, HTTP, HTTP, HTTP} {
		if got := ProtocolOf(d, i); got != want {
			t.Errorf("inbound %d has the protocol %v, want %v", i, got, want)
		}
	}
}
