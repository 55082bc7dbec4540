package rbac

import (
	"fmt"
	"strings"
	"testing"

	xdsmatcher "github.com/cncf/xds/go/xds/type/matcher/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/kind/meshtrafficpermission"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/permission/permissiontest"
	"github.com/meshmatch/meshmatch/core/request"
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
			case NoSingleID, severalURIs:
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
	type lists = meshtrafficpermission.RuleConf
	get := conf.Method("GET")
	clients := append(identities("a/%d", 12), identities("b/%d", 12)...)
	// Every other rule is a prefix of the identities in the next rule.
	alternating := make([]permission.Rule, 30)
	for i := range alternating {
		alternating[i] = ruleOf(fmt.Sprint(i), lists{Allow: identities(fmt.Sprintf("c%d/%%d", i), 10)})
		if i%2 == 1 {
			alternating[i] = ruleOf(fmt.Sprint(i), lists{Allow: []conf.Match{below(fmt.Sprintf("/c%d", i+1))}})
		}
	}
	for _, test := range []struct {
		name  string
		rules []permission.Rule
		want  string
	}{
		{"a few", []permission.Rule{ruleOf("1", lists{Allow: identities("a/%d", 8)})}, "l1"},
		{"many", []permission.Rule{ruleOf("1", lists{Allow: identities("a/%d", 9)})}, "m9"},
		{"the same twice", []permission.Rule{ruleOf("1", lists{Allow: identities("a/%d", 9)}), ruleOf("2", lists{Allow: identities("a/%d", 10)})}, "m10"},
		{"denied and allowed", []permission.Rule{ruleOf("1", lists{Allow: identities("a/%d", 9), Deny: identities("a/%d", 5)})}, "m9"},
		{"a prefix elsewhere", []permission.Rule{
			ruleOf("1", lists{Allow: []conf.Match{below("/b")}}), ruleOf("2", lists{Allow: identities("a/%d", 9)}),
		}, "m9 l1"},
		{"a prefix of the same rule", []permission.Rule{
			ruleOf("1", lists{Allow: append(identities("a/%d", 9), below("/a"))}),
		}, "m9 l1"},
		{"a prefix of an earlier rule", []permission.Rule{
			ruleOf("1", lists{Allow: []conf.Match{below("/a")}}), ruleOf("2", lists{Allow: identities("a/%d", 9)}),
		}, "l1 m9"},
		{"a prefix of a later rule that denies", []permission.Rule{
			ruleOf("1", lists{Allow: identities("a/%d", 9)}), ruleOf("2", lists{Deny: []conf.Match{below("/a")}}),
		}, "l1 m9"},
		{"a few below a prefix of an earlier rule", []permission.Rule{
			ruleOf("1", lists{Allow: []conf.Match{below("/a")}}), ruleOf("2", lists{Allow: append(identities("a/%d", 3), identities("b/%d", 9)...)}),
		}, "m9 l2"},
		{"an earlier rule about every client", []permission.Rule{
			ruleOf("1", lists{Allow: []conf.Match{{Method: &get}}}), ruleOf("2", lists{Allow: identities("a/%d", 9)}),
		}, "l1 m9"},
		{"allowed, and denied next to a prefix", []permission.Rule{
			ruleOf("1", lists{Allow: identities("a/%d", 9)}), ruleOf("2", lists{Deny: append(identities("a/%d", 3), below("/b"))}),
		}, "m9 l1"},
		{"bounded", alternating, strings.Repeat("m10 l1 ", maxStages-1) + "m10 l15"},
	} {
		t.Run(test.name, func(t *testing.T) {
			l, _ := permission.NewDecisionList(request.HTTP, test.rules)
			p := &permission.Permissions{Protocol: request.HTTP, Rules: l}
			config := received(t, p, MatcherForm)
			if got := stagesOf(config.GetMatcher()); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
			for _, client := range append(clients, identities("c4/%d", 10)...) {
				for _, method := range []string{"GET", "POST"} {
					for _, uris := range [][]string{{client.SpiffeID.Value}, {"urn:a", client.SpiffeID.Value}} {
						if err := compareFilter(t, p, MatcherForm, config, &permissiontest.Client{URIs: uris, Method: method, Path: "/"}); err != nil {
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
			q := &permissiontest.Client{URIs: []string{"spiffe://shop.mesh/ns/" + path}, Method: "GET", Path: "/"}
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
			q := &permissiontest.Client{URIs: []string{"spiffe://shop.mesh/" + id}, SNI: name}
			if err := compareFilter(t, p, RulesForm, small, q); err != nil {
				t.Error(err)
			}
		}
	}
}
