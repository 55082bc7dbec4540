package rbac

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	xdsmatcher "github.com/cncf/xds/go/xds/type/matcher/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/permissiontest"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/kind/meshtrafficpermission"
	"github.com/meshmatch/meshmatch/core/permission"
)

func identities(format string, n int) []conf.Match {
	out := make([]conf.Match, n)
	for i := range out {
		out[i].SpiffeID = &conf.SpiffeIDMatch{Type: conf.SpiffeIDExact, Value: fmt.Sprintf("spiffe://shop.mesh/"+format, i)}
	}
	return out
}

func below(path string) conf.Match {
	return conf.Match{SpiffeID: &conf.SpiffeIDMatch{Type: conf.SpiffeIDPrefix, Value: "spiffe://shop.mesh" + path}}
}

func ruleOf(name string, c meshtrafficpermission.RuleConf) permission.Rule {
	return permission.Rule{KRI: "kri_mtp_default___" + name + "_", Conf: &c}
}

// eachOf returns a rule of its own for each identity.
func eachOf(ids []conf.Match) []permission.Rule {
	var out []permission.Rule
	for i := range ids {
		out = append(out, ruleOf(fmt.Sprint(i), meshtrafficpermission.RuleConf{Allow: ids[i : i+1]}))
	}
	return out
}

// stagesOf returns the order in which a matcher compares: m3 is a map of three identities,
// l2 a list of two matchers. The matchers for requests that are decided separately are
// omitted.
func stagesOf(m *xdsmatcher.Matcher) string {
	var out []string
	for ; m != nil; m = m.GetOnNoMatch().GetMatcher() {
		if ids := m.GetMatcherTree().GetExactMatchMap().GetMap(); ids != nil {
			out = append(out, fmt.Sprintf("m%d", len(ids)))
			continue
		}
		n := 0
		for _, field := range m.GetMatcherList().GetMatchers() {
			switch field.GetPredicate().GetSinglePredicate().GetValueMatch().GetSafeRegex().GetRegex() {
			case severalURIs:
			default:
				n++
			}
		}
		if n > 0 {
			out = append(out, fmt.Sprintf("l%d", n))
		}
	}
	return strings.Join(out, " ")
}

// Identities are looked up in a map only where that changes neither the decision nor the
// policy that makes it.
func TestStages(t *testing.T) {
	if testing.Short() {
		t.Skip("it compares many long expressions")
	}
	type lists = meshtrafficpermission.RuleConf
	get := conf.Method("GET")
	// Ten identities are too many for one expression.
	many := func(at string, n int) []conf.Match { return identities(at+"/%d/"+strings.Repeat("x", 500), n) }
	clients := slices.Concat(many("a", 12), many("b", 12), many("c4", 10), identities("a/%d", 12))
	// Every other rule is a prefix of the identities in the next rule.
	alternating := make([]permission.Rule, 30)
	for i := range alternating {
		alternating[i] = ruleOf(fmt.Sprint(i), lists{Allow: many(fmt.Sprintf("c%d", i), 10)})
		if i%2 == 1 {
			alternating[i] = ruleOf(fmt.Sprint(i), lists{Allow: []conf.Match{below(fmt.Sprintf("/c%d", i+1))}})
		}
	}
	for _, test := range []struct {
		name  string
		rules []permission.Rule
		want  string
	}{
		{"one expression", []permission.Rule{ruleOf("1", lists{Allow: identities("a/%d", 200)})}, "l1"},
		{"one expression with prefixes", []permission.Rule{
			ruleOf("1", lists{Allow: append(identities("b/%d", 12), below("/a"), below("/c4"), conf.Match{Method: &get})}),
		}, "l1"},
		{"a few rules", eachOf(identities("a/%d", fewRules)), "l8"},
		{"many rules", eachOf(identities("a/%d", fewRules+1)), "m9"},
		{"many", []permission.Rule{ruleOf("1", lists{Allow: many("a", 10)})}, "m10"},
		{"the same twice", []permission.Rule{ruleOf("1", lists{Allow: many("a", 10)}), ruleOf("2", lists{Allow: many("a", 11)})}, "m11"},
		{"denied and allowed", []permission.Rule{ruleOf("1", lists{Allow: many("a", 10), Deny: many("a", 5)})}, "m10"},
		{"a prefix elsewhere", []permission.Rule{
			ruleOf("1", lists{Allow: []conf.Match{below("/b")}}), ruleOf("2", lists{Allow: many("a", 10)}),
		}, "m10 l1"},
		{"a prefix of the same rule", []permission.Rule{
			ruleOf("1", lists{Allow: append(many("a", 10), below("/a"))}),
		}, "m10 l1"},
		{"a prefix of an earlier rule", []permission.Rule{
			ruleOf("1", lists{Allow: []conf.Match{below("/a")}}), ruleOf("2", lists{Allow: many("a", 10)}),
		}, "l1 m10"},
		{"a prefix of a later rule that denies", []permission.Rule{
			ruleOf("1", lists{Allow: many("a", 10)}), ruleOf("2", lists{Deny: []conf.Match{below("/a")}}),
		}, "l1 m10"},
		{"a few below a prefix of an earlier rule", []permission.Rule{
			ruleOf("1", lists{Allow: []conf.Match{below("/a")}}), ruleOf("2", lists{Allow: append(many("a", 3), many("b", 10)...)}),
		}, "m10 l2"},
		{"an earlier rule about every client", []permission.Rule{
			ruleOf("1", lists{Allow: []conf.Match{{Method: &get}}}), ruleOf("2", lists{Allow: many("a", 10)}),
		}, "l1 m10"},
		{"allowed, and denied next to a prefix", []permission.Rule{
			ruleOf("1", lists{Allow: many("a", 10)}), ruleOf("2", lists{Deny: append(many("a", 3), below("/b"))}),
		}, "m10 l1"},
		{"bounded", alternating, strings.Repeat("m10 l1 ", maxStages-1) + "m10 l15"},
	} {
		t.Run(test.name, func(t *testing.T) {
			l, _ := permission.NewDecisionList(request.HTTP, test.rules)
			p := &permission.Permissions{Protocol: request.HTTP, Rules: l}
			config := received(t, p, MatcherForm)
			if got := stagesOf(config.GetMatcher()); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
			for _, client := range clients {
				for _, method := range []string{"GET", "POST"} {
					for _, uris := range [][]string{{client.SpiffeID.Value}, {"urn:a", client.SpiffeID.Value}} {
						if err := compareFilter(t, p, MatcherForm, config, &permissiontest.Call{URIs: uris, Method: method, Path: "/"}); err != nil {
							t.Error(err)
						}
					}
				}
			}
		})
	}
}

// If every policy would have to repeat thousands of denials, one policy replaces them all.
func TestManyPoliciesAndDenials(t *testing.T) {
	l, _ := permission.NewDecisionList(request.HTTP, thousandRules())
	p := &permission.Permissions{Protocol: request.HTTP, Rules: l}
	for word, form := range forms {
		config := received(t, p, form)
		if form == RulesForm && len(config.GetRules().GetPolicies()) != 1 {
			t.Errorf("%d policies", len(config.GetRules().GetPolicies()))
		}
		for _, path := range []string{"team-7/sa/app-5", "team-7/sa/app-6", "shared-999", "shared-999/sa/a", "shared-9999", "blocked/sa/app-0", "blocked/sa/app-1000"} {
			q := &permissiontest.Call{URIs: []string{"spiffe://shop.mesh/ns/" + path}, Method: "GET", Path: "/"}
			if err := compareFilter(t, p, form, config, q); err != nil {
				t.Errorf("%s: %v", word, err)
			}
		}
	}
}

// What is allowed with any SNI is not repeated for each SNI that only allows.
func TestManyServerNames(t *testing.T) {
	permissionsOf := func(n int) *permission.Permissions {
		c := meshtrafficpermission.RuleConf{Allow: identities("a/%d", 10*n), Deny: identities("b/%d", 1)}
		for i := range n {
			name := conf.SNI(fmt.Sprintf("host-%d.mesh", i))
			c.Allow = append(c.Allow, conf.Match{SNI: &name})
		}
		l, _ := permission.NewDecisionList(request.TCP, []permission.Rule{ruleOf("names", c)})
		return &permission.Permissions{Protocol: request.TCP, Rules: l}
	}
	small, large := received(t, permissionsOf(100), RulesForm), received(t, permissionsOf(200), RulesForm)
	if proto.Size(large) > 3*proto.Size(small) {
		t.Errorf("100 names take %d bytes, 200 take %d", proto.Size(small), proto.Size(large))
	}
	p := permissionsOf(100)
	for _, name := range []string{"", "host-7.mesh", "host-100.mesh"} {
		for _, id := range []string{"a/7", "b/0", "c/0"} {
			q := &permissiontest.Call{URIs: []string{"spiffe://shop.mesh/" + id}, SNI: name}
			if err := compareFilter(t, p, RulesForm, small, q); err != nil {
				t.Error(err)
			}
		}
	}
}
