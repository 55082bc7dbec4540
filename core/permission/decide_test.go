package permission_test

import (
	"fmt"
	"testing"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/permissiontest"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/kind/meshtrafficpermission"
	"github.com/meshmatch/meshmatch/core/permission"
)

func id(kind conf.SpiffeIDMatchType, value string) conf.Match {
	return conf.Match{SpiffeID: &conf.SpiffeIDMatch{Type: kind, Value: "spiffe://" + value}}
}

func exact(value string) conf.Match  { return id(conf.SpiffeIDExact, value) }
func prefix(value string) conf.Match { return id(conf.SpiffeIDPrefix, value) }

func method(m conf.Match, word conf.Method) conf.Match {
	m.Method = &word
	return m
}

func path(m conf.Match, kind conf.PathMatchType, value string) conf.Match {
	m.Path = &conf.PathMatch{Type: kind, Value: value}
	return m
}

func rule(name string, c meshtrafficpermission.RuleConf) permission.Rule {
	return permission.Rule{KRI: "kri_mtp____" + name + "_", Conf: &c}
}

func list(matches ...conf.Match) []conf.Match { return matches }

// An answer names the first entry that decides, wherever the lookup finds it.
func TestDecideNamesTheFirst(t *testing.T) {
	type lists = meshtrafficpermission.RuleConf
	for _, test := range []struct {
		name  string
		rules []permission.Rule
		id    string
		want  string
	}{
		{"no rules", nil, "td/a", "DENY default"},
		{"an exact ID before a prefix", []permission.Rule{
			rule("1", lists{Allow: list(exact("td/a"))}), rule("2", lists{Allow: list(prefix("td"))}),
		}, "td/a", "ALLOW 1 allow[0]"},
		{"a prefix before an exact ID", []permission.Rule{
			rule("1", lists{Allow: list(prefix("td"))}), rule("2", lists{Allow: list(exact("td/a"))}),
		}, "td/a", "ALLOW 1 allow[0]"},
		{"a short prefix before a long one", []permission.Rule{
			rule("1", lists{Deny: list(exact("td/x"), prefix("td/"))}), rule("2", lists{Deny: list(prefix("td/a/b"))}),
		}, "td/a/b/c", "DENY 1 deny[1]"},
		{"a long prefix before a short one", []permission.Rule{
			rule("1", lists{Deny: list(prefix("td/a/b"))}), rule("2", lists{Deny: list(prefix("td"))}),
		}, "td/a/b/c", "DENY 1 deny[0]"},
		{"a condition that holds before one that is no condition", []permission.Rule{
			rule("1", lists{Allow: list(method(exact("td/a"), "POST"), method(exact("td/a"), "GET"))}), rule("2", lists{Allow: list(exact("td/a"))}),
		}, "td/a", "ALLOW 1 allow[1]"},
		{"a condition that does not hold", []permission.Rule{
			rule("1", lists{Allow: list(method(exact("td/a"), "POST"))}), rule("2", lists{Allow: list(exact("td/a"))}),
		}, "td/a", "ALLOW 2 allow[0]"},
		{"no ID asked for", []permission.Rule{
			rule("1", lists{Allow: list(method(conf.Match{}, "GET"))}), rule("2", lists{Allow: list(exact("td/a"))}),
		}, "td/a", "ALLOW 1 allow[0]"},
		{"the same entry again", []permission.Rule{
			rule("1", lists{Allow: list(exact("td/a"), exact("td/a"))}),
		}, "td/a", "ALLOW 1 allow[0]"},
		{"a later deny overrides", []permission.Rule{
			rule("1", lists{Allow: list(exact("td/a"))}), rule("2", lists{Deny: list(prefix("td"))}),
		}, "td/a", "DENY 2 deny[0]"},
		{"allow before allowWithShadowDeny of one rule", []permission.Rule{
			rule("1", lists{AllowWithShadowDeny: list(exact("td/a")), Allow: list(prefix("td"))}),
		}, "td/a", "ALLOW 1 allow[0] shadow DENY 1 allowWithShadowDeny[0]"},
		{"allowWithShadowDeny of an earlier rule before allow", []permission.Rule{
			rule("1", lists{AllowWithShadowDeny: list(exact("td/a"))}), rule("2", lists{Allow: list(prefix("td"))}),
		}, "td/a", "ALLOW 1 allowWithShadowDeny[0] shadow DENY 1 allowWithShadowDeny[0]"},
		{"shadow: allowWithShadowDeny before deny of one rule", []permission.Rule{
			rule("1", lists{AllowWithShadowDeny: list(exact("td/a")), Deny: list(prefix("td"))}),
		}, "td/a", "DENY 1 deny[0] shadow DENY 1 allowWithShadowDeny[0]"},
		{"shadow: allowWithShadowDeny of an earlier rule before deny", []permission.Rule{
			rule("1", lists{AllowWithShadowDeny: list(exact("td/a"))}), rule("2", lists{Deny: list(prefix("td"))}),
		}, "td/a", "DENY 2 deny[0] shadow DENY 1 allowWithShadowDeny[0]"},
		{"shadow: no entry of it matches", []permission.Rule{
			rule("1", lists{AllowWithShadowDeny: list(exact("td/b")), Allow: list(exact("td/a"))}),
		}, "td/a", "ALLOW 1 allow[0] shadow ALLOW 1 allow[0]"},
		{"a prefix is no beginning of characters", []permission.Rule{
			rule("1", lists{Allow: list(prefix("td/a"), prefix("td/abc"))}),
		}, "td/ab", "DENY default"},
		{"the prefix itself is longer than the ID", []permission.Rule{
			rule("1", lists{Allow: list(prefix("td/a/b"))}),
		}, "td/a", "DENY default"},
	} {
		t.Run(test.name, func(t *testing.T) {
			l, _ := permission.NewDecisionList(request.HTTP, test.rules)
			answer := l.Decide(&request.Request{SpiffeID: "spiffe://" + test.id, Method: "GET", Path: "/"})
			if got := permissiontest.Text(answer); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// An answer names the first entry that decides, by whichever form of path the lookup finds it.
func TestDecideByPath(t *testing.T) {
	type lists = meshtrafficpermission.RuleConf
	any := conf.Match{}
	for _, test := range []struct {
		name, path string
		lists      lists
		want       string
	}{
		{"a path", "/a", lists{Allow: list(path(any, conf.PathExact, "/b"), path(any, conf.PathExact, "/a"))}, "ALLOW 1 allow[1]"},
		{"a prefix before a path", "/a/b", lists{Allow: list(path(any, conf.PathPrefix, "/a"), path(any, conf.PathExact, "/a/b"))}, "ALLOW 1 allow[0]"},
		{"a path before a prefix", "/a/b", lists{Allow: list(path(any, conf.PathExact, "/a/b"), path(any, conf.PathPrefix, "/a"))}, "ALLOW 1 allow[0]"},
		{"the prefix of all paths", "/a/b", lists{Allow: list(path(any, conf.PathPrefix, "/"))}, "ALLOW 1 allow[0]"},
		{"a prefix with a slash at its end", "/a", lists{Allow: list(path(any, conf.PathPrefix, "/a/"))}, "ALLOW 1 allow[0]"},
		{"a prefix is no beginning of characters", "/ab", lists{Allow: list(path(any, conf.PathPrefix, "/a"))}, "DENY default"},
		{"an expression before a prefix", "/a/b", lists{Allow: list(path(any, conf.PathRegex, "/a/."), path(any, conf.PathPrefix, "/a"))}, "ALLOW 1 allow[0]"},
		{"the other path of an ID before any path", "/a", lists{Allow: list(path(exact("td/a"), conf.PathExact, "/b"), prefix("td"))}, "ALLOW 1 allow[1]"},
		{"the path of an ID and of a prefix of it", "/a/b", lists{Allow: list(path(prefix("td"), conf.PathPrefix, "/a"), path(exact("td/a"), conf.PathExact, "/a/b"))}, "ALLOW 1 allow[0]"},
		{"the path of another ID", "/a", lists{Allow: list(path(exact("td/b"), conf.PathExact, "/a"))}, "DENY default"},
		{"the normal form of a path", "/x/../%61//b?c", lists{Allow: list(path(any, conf.PathExact, "/a/b"))}, "ALLOW 1 allow[0]"},
		{"a path that is refused", "/a%2fb", lists{Allow: list(path(any, conf.PathPrefix, "/"))}, "DENY default"},
		{"a method beside the path", "/a", lists{Allow: list(method(path(any, conf.PathExact, "/a"), "PUT"), path(any, conf.PathExact, "/a"))}, "ALLOW 1 allow[1]"},
		{"a denial below a path that is allowed", "/a/b/c", lists{Deny: list(path(any, conf.PathPrefix, "/a/b")), Allow: list(path(any, conf.PathPrefix, "/a"))}, "DENY 1 deny[0]"},
		{"no path", "", lists{Allow: list(path(any, conf.PathPrefix, "/"))}, "DENY default"},
		{"the target of OPTIONS", "*", lists{Allow: list(path(any, conf.PathPrefix, "/"))}, "DENY default"},
	} {
		t.Run(test.name, func(t *testing.T) {
			l, _ := permission.NewDecisionList(request.HTTP, []permission.Rule{rule("1", test.lists)})
			answer := l.Decide(&request.Request{SpiffeID: "spiffe://td/a", Method: "GET", Path: test.path})
			if got := permissiontest.Text(answer); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestNothingIsLetIn(t *testing.T) {
	anonymous := &request.Request{Method: "GET", Path: "/"}
	if a := (&permission.Permissions{}).Decide(anonymous); a.Decision.Allow || a.HasShadow {
		t.Errorf("an inbound without policies: %+v", a)
	}
	l, _ := permission.NewDecisionList(request.HTTP, []permission.Rule{rule("1", meshtrafficpermission.RuleConf{Allow: list(prefix("td"))})})
	if a := l.Decide(anonymous); a.Decision.Allow {
		t.Errorf("a client without an ID: %+v", a)
	}
}

func TestHeaders(t *testing.T) {
	h := request.NewHeaders(request.Header{Name: "X-B", Value: "1"}, request.Header{Name: "x-a", Value: ""}, request.Header{Name: "x-b", Value: "2"})
	for _, test := range []struct {
		name, want string
		present    bool
	}{{"x-b", "1,2", true}, {"x-a", "", true}, {"x", "", false}} {
		if got, present := h.Get(test.name); got != test.want || present != test.present {
			t.Errorf("%s: %q, %v", test.name, got, present)
		}
	}
}

// manyRules returns rules with 10,000 exact IDs and 100 prefixes.
func manyRules() []permission.Rule {
	var rules []permission.Rule
	for i := range 100 {
		var c meshtrafficpermission.RuleConf
		for j := range 100 {
			c.Allow = append(c.Allow, exact(fmt.Sprintf("shop.mesh/ns/team-%d/sa/app-%d", i, j)))
		}
		c.Deny = append(c.Deny, prefix(fmt.Sprintf("shop.mesh/ns/blocked-%d", i)))
		rules = append(rules, rule(fmt.Sprint(i), c))
	}
	return rules
}

func TestDecideAllocatesNothing(t *testing.T) {
	l, _ := permission.NewDecisionList(request.HTTP, manyRules())
	q := &request.Request{SpiffeID: "spiffe://shop.mesh/ns/team-50/sa/app-50", Method: "GET", Path: "/a?b"}
	if n := testing.AllocsPerRun(100, func() { l.Decide(q) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkDecide(b *testing.B) {
	l, _ := permission.NewDecisionList(request.HTTP, manyRules())
	for _, test := range []struct{ name, id, want string }{
		{"exact", "shop.mesh/ns/team-50/sa/app-50", "ALLOW 50 allow[50]"},
		{"prefix", "shop.mesh/ns/blocked-50/sa/app-50", "DENY 50 deny[0]"},
		{"none", "shop.mesh/ns/other/sa/app-50", "DENY default"},
	} {
		b.Run(test.name, func(b *testing.B) {
			q := &request.Request{SpiffeID: "spiffe://" + test.id, Method: "GET", Path: "/a?b"}
			b.ReportAllocs()
			var a permission.Answer
			for b.Loop() {
				a = l.Decide(q)
			}
			if got := permissiontest.Text(a); got != test.want {
				b.Fatalf("got %s", got)
			}
		})
	}
}

// BenchmarkDecideByPath decides by entries of any client: six exact paths and a prefix that
// each policy allows, and one that it denies.
func BenchmarkDecideByPath(b *testing.B) {
	for _, policies := range []int{10, 100, 1_000} {
		rules := make([]permission.Rule, policies)
		for i := range rules {
			c := meshtrafficpermission.RuleConf{Deny: list(path(conf.Match{}, conf.PathExact, fmt.Sprintf("/blocked/app-%d", i)))}
			for j := range 6 {
				c.Allow = append(c.Allow, path(conf.Match{}, conf.PathExact, fmt.Sprintf("/team-%d/app-%d", i, j)))
			}
			c.Allow = append(c.Allow, path(conf.Match{}, conf.PathPrefix, fmt.Sprintf("/shared-%d", i)))
			rules[i] = rule(fmt.Sprint(i), c)
		}
		l, _ := permission.NewDecisionList(request.HTTP, rules)
		for _, test := range []struct{ name, path, want string }{
			{"exact", fmt.Sprintf("/team-%d/app-5", policies-1), fmt.Sprintf("ALLOW %d allow[5]", policies-1)},
			{"prefix", fmt.Sprintf("/shared-%d/app-5", policies-1), fmt.Sprintf("ALLOW %d allow[6]", policies-1)},
			{"none", "/other/app-5", "DENY default"},
		} {
			b.Run(fmt.Sprintf("policies=%d/path=%s", policies, test.name), func(b *testing.B) {
				q := &request.Request{SpiffeID: "spiffe://shop.mesh/web", Method: "GET", Path: test.path}
				b.ReportAllocs()
				var a permission.Answer
				for b.Loop() {
					a = l.Decide(q)
				}
				if got := permissiontest.Text(a); got != test.want {
					b.Fatalf("got %s", got)
				}
			})
		}
	}
}

// eightThousand returns the rules of 1,000 policies with 8 matches each.
func eightThousand() []permission.Rule {
	rules := make([]permission.Rule, 1000)
	for i := range rules {
		var c meshtrafficpermission.RuleConf
		for j := range 6 {
			c.Allow = append(c.Allow, exact(fmt.Sprintf("shop.mesh/ns/team-%d/sa/app-%d", i, j)))
		}
		c.Allow = append(c.Allow, prefix(fmt.Sprintf("shop.mesh/ns/shared-%d", i)))
		c.Deny = append(c.Deny, exact(fmt.Sprintf("shop.mesh/ns/blocked/sa/app-%d", i)))
		rules[i] = rule(fmt.Sprint(i), c)
	}
	return rules
}

func BenchmarkNewDecisionList(b *testing.B) {
	rules := eightThousand()
	b.ReportAllocs()
	var l *permission.DecisionList
	for b.Loop() {
		l, _ = permission.NewDecisionList(request.HTTP, rules)
	}
	if len(l.Entries()) != 8000 {
		b.Fatal(len(l.Entries()))
	}
}
