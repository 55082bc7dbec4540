package request

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core/conf"
)

func ref[T any](v T) *T { return &v }

// every has one condition for each part of a request.
var every = conf.Match{
	SNI:    ref(conf.SNI("web.mesh")),
	Path:   &conf.PathMatch{Type: conf.PathPrefix, Value: "/api/"},
	Method: ref(conf.Method("GET")),
	Headers: []conf.HeaderMatch{
		{Name: "X-Exact", Value: ref("a")},
		{Name: "x-prefix", Type: ref(conf.HeaderPrefix), Value: ref("b")},
		{Name: "x-regex", Type: ref(conf.HeaderRegex), Value: ref("c+")},
		{Name: "x-present", Type: ref(conf.HeaderPresent)},
		{Name: "x-absent", Type: ref(conf.HeaderAbsent)},
	},
}

// meets returns a request that meets every, and applies a change to it.
func meets(change func(*Request)) Request {
	r := Request{
		SNI: "web.mesh", Method: "GET", Path: "/api/users?limit=1",
		Headers: NewHeaders(Header{"x-exact", "a"}, Header{"x-prefix", "bx"}, Header{"x-regex", "cc"}, Header{"x-present", ""}),
	}
	change(&r)
	return r
}

// with replaces the lines of a header; without lines it removes the header.
func with(name string, values ...string) func(*Request) {
	return func(r *Request) {
		var lines []Header
		for _, h := range r.Headers {
			if h.Name != name {
				lines = append(lines, h)
			}
		}
		for _, value := range values {
			lines = append(lines, Header{name, value})
		}
		r.Headers = NewHeaders(lines...)
	}
}

// A condition holds if and only if no part of it fails. A failure contains the
// condition and the value in the request.
func TestFailed(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*Request)
		want   []string
	}{
		{"all met", func(*Request) {}, nil},
		{"the prefix itself", func(r *Request) { r.Path = "/api" }, nil},
		{"another server name", func(r *Request) { r.SNI = "db.mesh" }, []string{"sni: want web.mesh, the request has db.mesh"}},
		{"no server name", func(r *Request) { r.SNI = "" }, []string{"sni: want web.mesh, the request has none"}},
		{"another method", func(r *Request) { r.Method = "POST" }, []string{"method: want GET, the request has POST"}},
		{"a path in the same segment", func(r *Request) { r.Path = "/apis" }, []string{"path: want Prefix /api/, the request has /apis"}},
		{"a path that becomes another", func(r *Request) { r.Path = "/api/../admin" }, []string{"path: want Prefix /api/, the request has /admin"}},
		{"no path", func(r *Request) { r.Path = "" }, []string{"path: want Prefix /api/, the request has none"}},
		{"a refused path", func(r *Request) { r.Path = "/api/a%2Fb" }, []string{"path: want Prefix /api/, the request has none"}},
		{"another value", with("x-exact", "b"), []string{`headers[0]: want x-exact Exact a, the request has x-exact: "b"`}},
		{"a second line", with("x-exact", "a", "a"), []string{`headers[0]: want x-exact Exact a, the request has x-exact: "a,a"`}},
		{"another beginning", with("x-prefix", "ab"), []string{`headers[1]: want x-prefix Prefix b, the request has x-prefix: "ab"`}},
		{"more than the expression", with("x-regex", "ccd"), []string{`headers[2]: want x-regex RegularExpression c+, the request has x-regex: "ccd"`}},
		{"no header", with("x-present"), []string{"headers[3]: want x-present Present, the request has none"}},
		{"a header that must be absent", with("x-absent", ""), []string{`headers[4]: want x-absent Absent, the request has x-absent: ""`}},
		{
			"several", func(r *Request) { r.SNI, r.Method, r.Path = "", "PUT", "/" },
			[]string{"sni: want web.mesh, the request has none", "path: want Prefix /api/, the request has /", "method: want GET, the request has PUT"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := meets(test.change)
			seen := NewSeen(&r)
			c := NewCondition(&every, Whole, Expressions{})
			var got []string
			for _, failure := range c.Failed(&seen) {
				got = append(got, failure.String())
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("failures (-want +got):\n%s", diff)
			}
			if holds := c.Holds(&seen); holds != (len(test.want) == 0) {
				t.Errorf("the condition holds: %v", holds)
			}
		})
	}
}

// A match with only a SPIFFE ID needs no condition, and a nil condition always
// holds.
func TestConditionOfTheRest(t *testing.T) {
	m := conf.Match{SpiffeID: &conf.SpiffeIDMatch{Type: conf.SpiffeIDExact, Value: "spiffe://td/a"}}
	c := NewCondition(&m, Whole, Expressions{})
	seen := NewSeen(&Request{})
	if c != nil || !c.Holds(&seen) || c.Failed(&seen) != nil {
		t.Errorf("got %v", c)
	}
}

func TestPaths(t *testing.T) {
	for _, test := range []struct {
		how   conf.PathMatchType
		value string
		meet  []string
		fail  []string
	}{
		{conf.PathExact, "/a", []string{"/a", "/a?b", "//a", "/%61"}, []string{"", "/", "/a/", "/a/b", "/A"}},
		{conf.PathPrefix, "/a", []string{"/a", "/a/", "/a/b", "/b/../a"}, []string{"", "/", "/ab", "/b/a"}},
		{conf.PathPrefix, "/a/", []string{"/a", "/a/", "/a/b"}, []string{"/ab"}},
		{conf.PathPrefix, "/", []string{"/", "/a"}, []string{"", "*"}},
		{conf.PathRegex, "/a[0-9]", []string{"/a1", "/a1?b"}, []string{"", "/a", "/a12", "/b/a1"}},
		{conf.PathRegex, ".*", []string{"/", "*"}, []string{""}},
	} {
		c := NewCondition(&conf.Match{Path: &conf.PathMatch{Type: test.how, Value: test.value}}, Whole, Expressions{})
		for want, paths := range map[bool][]string{true: test.meet, false: test.fail} {
			for _, path := range paths {
				if seen := NewSeen(&Request{Path: path}); c.Holds(&seen) != want {
					t.Errorf("%s %s holds for %q: %v", test.how, test.value, path, !want)
				}
			}
		}
	}
	c := NewCondition(&conf.Match{Path: &conf.PathMatch{Type: conf.PathExact, Value: "/a"}}, Whole, Expressions{})
	seen := NewSeen(&Request{Path: "/b"})
	if got := fmt.Sprint(c.Failed(&seen)); got != "[path: want Exact /a, the request has /b]" {
		t.Errorf("got %s", got)
	}
}

// An expression is compiled once for all conditions of an inbound.
func TestExpressions(t *testing.T) {
	known := Expressions{}
	for range 2 {
		NewCondition(&every, Whole, known)
		NewCondition(&every, Runs, known)
	}
	if len(known) != 1 || known["c+"] == nil {
		t.Errorf("got %d expressions", len(known))
	}
}
