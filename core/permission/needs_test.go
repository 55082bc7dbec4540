package permission_test

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/kind/meshtrafficpermission"
	"github.com/meshmatch/meshmatch/core/permission"
)

// An entry is needed if the request that it decides has another decision without it. The
// entry in question is the first one, and the request is a GET of td/a/b.
func TestNeeds(t *testing.T) {
	type lists = meshtrafficpermission.RuleConf
	get := func(m conf.Match) conf.Match { return method(m, "GET") }
	for _, test := range []struct {
		name  string
		rules lists
		want  bool
	}{
		{"the only one that allows", lists{Allow: list(get(exact("td/a/b")))}, true},
		{"another one of the ID allows", lists{Allow: list(get(exact("td/a/b")), get(exact("td/a/b")))}, false},
		{"another one without conditions allows", lists{Allow: list(get(exact("td/a/b")), exact("td/a/b"))}, false},
		{"another one of a prefix allows", lists{Allow: list(get(exact("td/a/b")), get(prefix("td")))}, false},
		{"another one of any ID allows", lists{Allow: list(get(exact("td/a/b")), get(conf.Match{}))}, false},
		{"another one allows another ID", lists{Allow: list(get(exact("td/a/b")), get(exact("td/c")))}, true},
		{"another one allows another method", lists{Allow: list(get(exact("td/a/b")), method(prefix("td"), "PUT"))}, true},
		{"denies what is allowed", lists{Deny: list(get(prefix("td/a"))), Allow: list(prefix("td"))}, true},
		{"denies what nothing allows", lists{Deny: list(get(prefix("td/a")))}, false},
		{"denies what another one denies too", lists{Deny: list(get(prefix("td/a")), get(conf.Match{})), Allow: list(prefix("td"))}, false},
		{"the only one that allows, without conditions", lists{Allow: list(exact("td/a/b"))}, true},
		{"another one after one without conditions", lists{Allow: list(exact("td/a/b"), get(exact("td/a/b")))}, false},
		{"another one of the path allows", lists{Allow: list(path(exact("td/a/b"), conf.PathExact, "/"), path(conf.Match{}, conf.PathPrefix, "/"))}, false},
		{"another one allows another path", lists{Allow: list(path(exact("td/a/b"), conf.PathExact, "/"), path(conf.Match{}, conf.PathPrefix, "/a"))}, true},
		{"a shadow decision is not known", lists{Allow: list(get(exact("td/a/b"))), AllowWithShadowDeny: list(exact("td/c"))}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			l, _ := permission.NewDecisionList(request.HTTP, []permission.Rule{rule("1", test.rules)})
			r := &request.Request{SpiffeID: "spiffe://td/a/b", Method: "GET", Path: "/"}
			if by := l.Decide(r).Decision.By; by == nil || *by != l.Entries()[0].Place {
				t.Fatalf("decided by %+v, not by the first entry", by)
			}
			if got := l.Needs(0, r); got != test.want {
				t.Errorf("got %t, want %t", got, test.want)
			}
		})
	}
}

// A client without an ID is decided by entries of any ID only, and these alone are compared.
func TestNeedsWithoutID(t *testing.T) {
	any := method(conf.Match{}, "GET")
	l, _ := permission.NewDecisionList(request.HTTP, []permission.Rule{rule("1", meshtrafficpermission.RuleConf{Allow: list(any, prefix("td"))})})
	if !l.Needs(0, &request.Request{Method: "GET", Path: "/"}) {
		t.Error("an entry of a prefix is taken for one that allows a client without an ID")
	}
}

// Only a list with an entry that compares paths asks for the path.
func TestAsksForPath(t *testing.T) {
	path := conf.Match{Path: &conf.PathMatch{Type: conf.PathExact, Value: "/"}}
	var none *permission.DecisionList
	if none.AsksForPath() {
		t.Error("no list asks for the path")
	}
	for _, test := range []struct {
		match conf.Match
		want  bool
	}{{exact("td/a"), false}, {path, true}} {
		l, _ := permission.NewDecisionList(request.HTTP, []permission.Rule{rule("1", meshtrafficpermission.RuleConf{Allow: list(test.match)})})
		if got := l.AsksForPath(); got != test.want {
			t.Errorf("%+v: got %t", test.match, got)
		}
	}
}
