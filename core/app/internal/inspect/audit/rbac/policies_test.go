package rbac_test

import (
	"math/rand/v2"
	"regexp"
	"testing"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/access"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/kind/meshtrafficpermission"
	"github.com/meshmatch/meshmatch/core/permission"
)

// near returns random permissions by IDs, and a filter that allows nearly the same clients in the
// way of hand-written filters: by an ID and the texts below it.
func (r random) near() (*permission.Permissions, object) {
	var c meshtrafficpermission.RuleConf
	var principals []any
	for range 1 + r.IntN(3) {
		m := conf.Match{SpiffeID: &conf.SpiffeIDMatch{Type: one(r, conf.SpiffeIDExact, conf.SpiffeIDPrefix, conf.SpiffeIDPrefix, conf.SpiffeIDTextPrefix), Value: one(r, append(ids, parents...)...)}}
		c.Allow = append(c.Allow, m)
		id := m.SpiffeID.Value
		for _, name := range []object{{"exact": id}, {"prefix": id + "/"}, {"safe_regex": object{"regex": regexp.QuoteMeta(id) + "/.*"}}, {"safe_regex": object{"regex": regexp.QuoteMeta(id) + "(/.*)?"}}, {"prefix": id}} {
			if r.IntN(3) == 0 {
				principals = append(principals, object{"authenticated": object{"principal_name": name}})
			}
		}
	}
	if principals == nil {
		principals = append(principals, object{"any": true})
	}
	list, _ := permission.NewDecisionList(request.HTTP, []permission.Rule{{KRI: "a", Conf: &c}})
	config := object{"rules": object{"policies": object{"p": object{"permissions": []any{object{"any": true}}, "principals": principals}}}}
	return &permission.Permissions{Protocol: request.HTTP, Rules: list}, config
}

// Parents are IDs that others are below.
var parents = []string{"spiffe://shop.mesh/ns", "spiffe://shop.mesh/ns/web", "spiffe://shop.mesh/ns/web/sa"}

// TestRandomFiltersBesidePolicies compares policies, which divide IDs into segments, with filters,
// which compare texts: each witness is decided as the answer says, and if no difference is found,
// no request shows one.
func TestRandomFiltersBesidePolicies(t *testing.T) {
	seeds := 600
	if testing.Short() {
		seeds = 200
	}
	space := &access.Space{Protocol: request.HTTP, NoTags: true, Queries: true}
	differences, equal := 0, 0
	for seed := range seeds {
		r := random{rand.New(rand.NewPCG(uint64(seed), 20))}
		p, config := r.near()
		found, err := access.CompareChain(space, access.ListOf(p), asFilters(config).Chain, access.Limits{})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for _, d := range found {
			differences++
			if before, after := p.Decide(d.Witness).Decision.Allow, (reference{d.Witness}).allows(config); before != d.Before.Allow || after != d.After.Allow || before == after {
				t.Fatalf("seed %d: %+v: %v and %v; the policies decide %v, the filter %v: %v", seed, *d.Witness, d.Before, d.After, before, after, config)
			}
		}
		shown := map[[2]bool]bool{}
		for _, d := range found {
			shown[[2]bool{d.Before.Allow, d.After.Allow}] = true
		}
		if len(found) == 0 {
			equal++
		}
		for _, id := range append(append(ids, parents...), "", "spiffe://shop.mesh/ns/websa", "spiffe://shop.mesh/ns/web/x") {
			q := &request.Request{SpiffeID: id, Method: "GET", Path: "/"}
			before, after := p.Decide(q).Decision.Allow, (reference{q}).allows(config)
			if before != after && !shown[[2]bool{before, after}] {
				t.Fatalf("seed %d: %+v: the policies allow %v, the filter %v, and no difference is found: %v", seed, q, before, after, config)
			}
		}
	}
	if differences < seeds/2 || equal < seeds/20 {
		t.Errorf("%d differences were found in %d pairs, and none in %d", differences, seeds, equal)
	}
}
