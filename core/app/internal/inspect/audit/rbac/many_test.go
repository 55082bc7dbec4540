package rbac_test

import (
	"fmt"
	"testing"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/audit/rbac"
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/access"
	"github.com/meshmatch/meshmatch/core/internal/request"
	filter "github.com/meshmatch/meshmatch/core/internal/xds/rbac"
	"github.com/meshmatch/meshmatch/core/kind/meshtrafficpermission"
	"github.com/meshmatch/meshmatch/core/permission"
)

// realistic returns n permissions of a mesh: identities of two trust domains, paths of an API, and
// what all of them deny.
func realistic(n int, headers bool) *permission.Permissions {
	id := func(kind conf.SpiffeIDMatchType, format string, args ...any) *conf.SpiffeIDMatch {
		return &conf.SpiffeIDMatch{Type: kind, Value: fmt.Sprintf("spiffe://"+format, args...)}
	}
	path := func(kind conf.PathMatchType, format string, args ...any) *conf.PathMatch {
		return &conf.PathMatch{Type: kind, Value: fmt.Sprintf(format, args...)}
	}
	get := conf.Method("GET")
	var rules []permission.Rule
	for i := range n {
		c := meshtrafficpermission.RuleConf{Allow: []conf.Match{
			{SpiffeID: id(conf.SpiffeIDExact, "shop.mesh.local/ns/team-%d/sa/web", i)},
			{SpiffeID: id(conf.SpiffeIDPrefix, "shop.mesh.local/ns/team-%d/sa/jobs", i), Path: path(conf.PathPrefix, "/api/v1/resource-%d", i)},
			{SpiffeID: id(conf.SpiffeIDPrefix, "partner-%d.example.org", i), Path: path(conf.PathExact, "/partners/%d/status", i), Method: &get},
			{SpiffeID: id(conf.SpiffeIDExact, "other.mesh.local/ns/team-%d/sa/web", i), Path: path(conf.PathRegex, "/api/v[0-9]+/resource-%d/[^/]+", i)},
		}}
		if i%5 == 0 {
			c.Deny = []conf.Match{{Path: path(conf.PathPrefix, "/internal/%d", i)}, {SpiffeID: id(conf.SpiffeIDPrefix, "shop.mesh.local/ns/team-%d/sa/jobs/old", i)}}
		}
		if i%5 == 1 && headers {
			c.Deny = []conf.Match{{SpiffeID: id(conf.SpiffeIDPrefix, "other.mesh.local/ns/team-%d", i), Path: path(conf.PathPrefix, "/api/v2/resource-%d", i), Method: &get,
				Headers: []conf.HeaderMatch{{Name: "x-tenant", Type: ptr(conf.HeaderRegex), Value: ptr("guest-[0-9]+")}}}}
		}
		rules = append(rules, permission.Rule{KRI: fmt.Sprintf("kri_mtp_default___p%d_", i), Conf: &c})
	}
	list, _ := permission.NewDecisionList(request.HTTP, rules)
	return &permission.Permissions{Protocol: request.HTTP, Rules: list}
}

func ptr[T any](v T) *T { return &v }

// TestManyPermissions compares the filters of realistic permissions within the limit of a question.
// The steps are the same in each run.
func TestManyPermissions(t *testing.T) {
	for _, test := range []struct {
		name    string
		form    filter.Form
		headers bool
		most    int // steps
	}{
		{"matcher", filter.MatcherForm, false, 4_000_000},
		{"matcher with headers", filter.MatcherForm, true, 8_000_000},
		{"rules", filter.RulesForm, false, 15_000_000},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := realistic(20, test.headers)
			tags := []bool{true, false}
			if test.form == filter.RulesForm {
				tags = tags[:1] // it takes seconds
			}
			for _, noTags := range tags {
				space := &access.Space{Protocol: p.Protocol, NoTags: noTags, Queries: true}
				filters := rbac.New(chainOf(t, p, test.form), rbac.Connection{TLS: true, NoTags: noTags, Port: 80})
				left := access.DefaultWork
				found, err := access.CompareChain(space, access.ListOf(p), filters.Chain, access.Limits{Left: &left})
				if steps := access.DefaultWork - left; err != nil || steps > test.most {
					t.Errorf("without tags %v: %d steps and error %v, want at most %d", noTags, steps, err, test.most)
				} else {
					t.Logf("without tags %v: %d steps", noTags, steps)
				}
				for _, d := range found {
					t.Errorf("without tags %v: %+v %+v", noTags, *d.Witness, d)
				}
			}
		})
	}
}
