package rbac

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/permissiontest"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/kind/meshtrafficpermission"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
)

// alternatingClients returns a policy with n `from` items about different services that
// alternately allow and deny.
func alternatingClients(n int) *permission.Permissions {
	p := &resource.Policy{Meta: resource.Meta{ID: resource.ID{Kind: permission.KindName, Mesh: "default", Name: "alternating"}}, Type: meshtrafficpermission.Kind()}
	actions := []meshtrafficpermission.Action{meshtrafficpermission.Allow, meshtrafficpermission.Deny, meshtrafficpermission.AllowWithShadowDeny, meshtrafficpermission.Deny}
	for i := range n {
		p.From = append(p.From, resource.Item{
			TargetRef: resource.TargetRef{Kind: resource.TargetMeshSubset, Tags: resource.NewTags(map[string]string{fmt.Sprintf("k%d", i%7): fmt.Sprintf("v%d", i%30)})},
			Conf:      &meshtrafficpermission.Conf{Action: &actions[i%len(actions)]},
		})
	}
	return &permission.Permissions{Clients: permission.NewClients([]*resource.Policy{p})}
}

// The rules form of items that alternately allow and deny grows like n log n.
func TestAlternatingClients(t *testing.T) {
	size := func(n int) int {
		filter, err := New(alternatingClients(n), RulesForm, "inbound.")
		if err != nil {
			t.Fatal(err)
		}
		return len(filter.Config.Value)
	}
	small, large := size(1000), size(4000)
	if large > 6*small {
		t.Errorf("1,000 items take %d bytes, 4,000 take %d", small, large)
	}
	p := alternatingClients(210) // too many to exclude each denial separately
	for word, form := range forms {
		config := received(t, p, form)
		for i := range 7 {
			for j := 0; j < 31; j += 5 {
				c := &permissiontest.Call{
					URIs: []string{"spiffe://td/a"},
					Tags: resource.NewTags(map[string]string{fmt.Sprintf("k%d", i): fmt.Sprintf("v%d", j), "k0": fmt.Sprintf("v%d", 30-j)}),
				}
				if err := compareFilter(t, p, form, config, c); err != nil {
					t.Errorf("%s: %v", word, err)
				}
			}
		}
	}
}

// A filter that exceeds the limit is an error before it takes memory.
func TestTooLarge(t *testing.T) {
	id := func(i int) *conf.SpiffeIDMatch {
		return &conf.SpiffeIDMatch{Type: conf.SpiffeIDExact, Value: fmt.Sprintf("spiffe://shop.mesh/%s/%d", strings.Repeat("a", 1000), i)}
	}
	var names, ids meshtrafficpermission.RuleConf
	for i := range 200 {
		name := conf.SNI(fmt.Sprintf("host-%d.mesh", i))
		names.Deny = append(names.Deny, conf.Match{SNI: &name, SpiffeID: id(i)}, conf.Match{SpiffeID: id(i + 1000)})
		names.Allow = append(names.Allow, conf.Match{SpiffeID: id(i + 2000)})
	}
	for i := range 17_000 {
		ids.Allow = append(ids.Allow, conf.Match{SpiffeID: id(i)})
	}
	for _, test := range []struct {
		name string
		form Form
		conf meshtrafficpermission.RuleConf
		want error
	}{
		{"server names times identities", RulesForm, names, ErrTooLarge},
		{"the same as a matcher", MatcherForm, names, nil},
		{"identities", MatcherForm, ids, ErrTooLarge},
		{"identities as rules", RulesForm, ids, ErrTooLarge},
	} {
		l, _ := permission.NewDecisionList(request.TCP, []permission.Rule{ruleOf("large", test.conf)})
		filter, err := New(&permission.Permissions{Rules: l}, test.form, "inbound.")
		if !errors.Is(err, test.want) || (err != nil) != (filter.Config == nil) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// A policy file of 1 MB becomes a filter or ErrTooLarge in bounded time and memory,
// regardless of its regular expressions (SPEC 7.2).
func BenchmarkExpressions(b *testing.B) {
	for _, test := range []struct{ name, expression string }{
		{"ordinary", `/api/v%d/[^/]+/items/.*`},
		{"counted", `/u%d/.{1,255}`},
		{"classes", `/%d` + strings.Repeat(`\pL`, 8)},
		{"counted-classes", `/%d\pL{100}`},
		{"long", `/%d` + strings.Repeat(`(a|b)?.*`, 100)},
		{"ends", `/%d(?:a$|b?){20}`},
	} {
		for _, kind := range []string{"path", "header"} {
			b.Run(test.name+"/in="+kind, func(b *testing.B) {
				var c meshtrafficpermission.RuleConf
				entries := 500
				if test.name != "ordinary" {
					entries = 1_000_000 / (len(test.expression) + 60) // with the rest of an entry in YAML
				}
				header := conf.HeaderRegex
				for i := range entries {
					expression := fmt.Sprintf(test.expression, i)
					if kind == "path" {
						c.Deny = append(c.Deny, conf.Match{Path: &conf.PathMatch{Type: conf.PathRegex, Value: expression}})
					} else {
						c.Deny = append(c.Deny, conf.Match{Headers: []conf.HeaderMatch{{Type: &header, Name: "x", Value: &expression}}})
					}
				}
				b.ReportAllocs()
				size := 0
				for b.Loop() {
					l, _ := permission.NewDecisionList(request.HTTP, []permission.Rule{ruleOf("expressions", c)})
					filter, err := New(&permission.Permissions{Protocol: request.HTTP, Rules: l}, MatcherForm, "inbound.")
					if err != nil && !errors.Is(err, ErrTooLarge) {
						b.Fatal(err)
					}
					size = len(filter.Config.GetValue())
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(entries), "us/entry")
				b.ReportMetric(float64(size), "filter-bytes")
			})
		}
	}
}
