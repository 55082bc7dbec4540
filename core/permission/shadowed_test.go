package permission

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/kind/meshtrafficpermission"
	"github.com/meshmatch/meshmatch/core/request"
)

func TestShadowed(t *testing.T) {
	prefix := func(v string) conf.Match {
		return conf.Match{SpiffeID: &conf.SpiffeIDMatch{Type: conf.SpiffeIDPrefix, Value: v}}
	}
	exact := func(v string) conf.Match {
		return conf.Match{SpiffeID: &conf.SpiffeIDMatch{Type: conf.SpiffeIDExact, Value: v}}
	}
	method := func(m conf.Match, method conf.Method) conf.Match {
		m.Method = &method
		return m
	}
	rule := func(deny, allow, shadowDeny []conf.Match) *meshtrafficpermission.RuleConf {
		return &meshtrafficpermission.RuleConf{Deny: deny, Allow: allow, AllowWithShadowDeny: shadowDeny}
	}
	list := func(m ...conf.Match) []conf.Match { return m }
	for name, c := range map[string]struct {
		rules []*meshtrafficpermission.RuleConf
		want  []string
	}{
		"a later deny hides an allow":           {[]*meshtrafficpermission.RuleConf{rule(nil, list(exact("spiffe://td/a/b")), nil), rule(list(prefix("spiffe://td/a")), nil, nil)}, []string{"0 allow 0"}},
		"another segment":                       {[]*meshtrafficpermission.RuleConf{rule(list(prefix("spiffe://td/a")), list(exact("spiffe://td/ab")), nil)}, nil},
		"the same again":                        {[]*meshtrafficpermission.RuleConf{rule(nil, list(exact("spiffe://td/a")), nil), rule(nil, list(exact("spiffe://td/a")), nil)}, []string{"1 allow 0"}},
		"a narrower one first":                  {[]*meshtrafficpermission.RuleConf{rule(nil, list(exact("spiffe://td/a"), prefix("spiffe://td")), nil)}, nil},
		"a condition that the other lacks":      {[]*meshtrafficpermission.RuleConf{rule(nil, list(method(prefix("spiffe://td"), "GET"), exact("spiffe://td/a")), nil)}, nil},
		"a condition more":                      {[]*meshtrafficpermission.RuleConf{rule(nil, list(prefix("spiffe://td"), method(exact("spiffe://td/a"), "GET")), nil)}, []string{"0 allow 1"}},
		"no identity at all":                    {[]*meshtrafficpermission.RuleConf{rule(list(method(conf.Match{}, "GET")), list(method(exact("spiffe://td/a"), "GET")), nil)}, []string{"0 allow 0"}},
		"an allow does not hide a shadow deny":  {[]*meshtrafficpermission.RuleConf{rule(nil, list(prefix("spiffe://td")), list(exact("spiffe://td/a")))}, nil},
		"a shadow deny hides a later allow":     {[]*meshtrafficpermission.RuleConf{rule(nil, nil, list(prefix("spiffe://td"))), rule(nil, list(exact("spiffe://td/a")), nil)}, []string{"1 allow 0"}},
		"a deny hides a shadow deny and a deny": {[]*meshtrafficpermission.RuleConf{rule(list(prefix("spiffe://td"), exact("spiffe://td/a")), nil, list(exact("spiffe://td/a")))}, []string{"0 deny 1", "0 allowWithShadowDeny 0"}},
	} {
		t.Run(name, func(t *testing.T) {
			rules := make([]Rule, len(c.rules))
			for i, conf := range c.rules {
				rules[i] = Rule{KRI: fmt.Sprint(i), Index: i, Conf: conf}
			}
			l, _ := NewDecisionList(request.HTTP, rules)
			var got []string
			for _, e := range l.Shadowed() {
				got = append(got, fmt.Sprintf("%d %s %d", e.Rule, e.List, e.Index))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Entries that are called shadowed change nothing: leaving all of them out
// changes no decision and no shadow decision.
func TestShadowedChangesNothing(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	ids := []string{"spiffe://td", "spiffe://td/a", "spiffe://td/a/b", "spiffe://td/ab", "spiffe://te/a"}
	methods := []conf.Method{"GET", "POST"}
	paths := []string{"/", "/a", "/a/b", "/ab"}
	match := func() (m conf.Match) {
		if n := random.IntN(len(ids) + 1); n < len(ids) {
			m.SpiffeID = &conf.SpiffeIDMatch{Type: []conf.SpiffeIDMatchType{conf.SpiffeIDExact, conf.SpiffeIDPrefix}[random.IntN(2)], Value: ids[n]}
		}
		if n := random.IntN(4); n < len(methods) {
			m.Method = &methods[n]
		}
		if n := random.IntN(8); n < len(paths) {
			m.Path = &conf.PathMatch{Type: []conf.PathMatchType{conf.PathExact, conf.PathPrefix}[random.IntN(2)], Value: paths[n]}
		}
		return m
	}
	found := 0
	for range 1500 {
		var rules []Rule
		for i := range 1 + random.IntN(3) {
			c := &meshtrafficpermission.RuleConf{}
			for _, list := range []*[]conf.Match{&c.Deny, &c.Allow, &c.AllowWithShadowDeny} {
				for range random.IntN(3) {
					*list = append(*list, match())
				}
			}
			rules = append(rules, Rule{KRI: fmt.Sprint(i), Index: i, Conf: c})
		}
		l, _ := NewDecisionList(request.HTTP, rules)
		shadowed := l.Shadowed()
		found += len(shadowed)
		without, _ := NewDecisionList(request.HTTP, leaveOut(rules, shadowed))
		for _, id := range append(slices.Clone(ids), "", "spiffe://td/other") {
			for _, method := range []string{"GET", "PUT"} {
				for _, path := range append(slices.Clone(paths), "/a/b/c") {
					r := &request.Request{SpiffeID: id, Method: method, Path: path}
					if a, b := verdicts(l, r), verdicts(without, r); a != b {
						t.Fatalf("%s %s %s: %v, and %v without %+v", id, method, path, a, b, shadowed)
					}
				}
			}
		}
	}
	if found < 500 {
		t.Errorf("only %d shadowed entries; the test has lost its subject", found)
	}
}

// verdicts returns the decision and the shadow decision, which is the same
// where nothing asks for one.
func verdicts(l *DecisionList, r *request.Request) [2]bool {
	a := l.Decide(r)
	if !a.HasShadow {
		return [2]bool{a.Decision.Allow, a.Decision.Allow}
	}
	return [2]bool{a.Decision.Allow, a.Shadow.Allow}
}

func leaveOut(rules []Rule, entries []Entry) []Rule {
	out := make([]Rule, len(rules))
	for i, rule := range rules {
		keep := func(l List, matches []conf.Match) (kept []conf.Match) {
			for j := range matches {
				if !slices.ContainsFunc(entries, func(e Entry) bool { return e.Place == rule.place(l, j) }) {
					kept = append(kept, matches[j])
				}
			}
			return kept
		}
		out[i] = rule
		out[i].Conf = &meshtrafficpermission.RuleConf{
			Deny: keep(Deny, rule.Conf.Deny), Allow: keep(Allow, rule.Conf.Allow),
			AllowWithShadowDeny: keep(AllowWithShadowDeny, rule.Conf.AllowWithShadowDeny),
		}
	}
	return out
}
