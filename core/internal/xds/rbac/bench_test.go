package rbac

import (
	"fmt"
	"testing"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/kind/meshtrafficpermission"
	"github.com/meshmatch/meshmatch/core/permission"
)

// thousandRules returns the rules of 1,000 policies with 8 matches each: seven that allow,
// one of them a prefix, and one that denies.
func thousandRules() []permission.Rule {
	id := func(kind conf.SpiffeIDMatchType, format string, args ...any) conf.Match {
		return conf.Match{SpiffeID: &conf.SpiffeIDMatch{Type: kind, Value: fmt.Sprintf("spiffe://shop.mesh/ns/"+format, args...)}}
	}
	rules := make([]permission.Rule, 1000)
	for i := range rules {
		c := &meshtrafficpermission.RuleConf{Deny: []conf.Match{id(conf.SpiffeIDExact, "blocked/sa/app-%d", i)}}
		for j := range 6 {
			c.Allow = append(c.Allow, id(conf.SpiffeIDExact, "team-%d/sa/app-%d", i, j))
		}
		c.Allow = append(c.Allow, id(conf.SpiffeIDPrefix, "shared-%d", i))
		rules[i] = permission.Rule{KRI: fmt.Sprintf("kri_mtp_default___policy-%d_", i), Conf: c}
	}
	return rules
}

// BenchmarkRBAC measures everything from the rules of an inbound to the marshalled filter.
func BenchmarkRBAC(b *testing.B) {
	rules := thousandRules()
	for word, form := range forms {
		b.Run(word, func(b *testing.B) {
			b.ReportAllocs()
			size := 0
			for b.Loop() {
				l, _ := permission.NewDecisionList(request.HTTP, rules)
				filter, err := New(&permission.Permissions{Protocol: request.HTTP, Rules: l}, form, "inbound.")
				if err != nil {
					b.Fatal(err)
				}
				size = len(filter.Config.Value)
			}
			if size < 8000*len("spiffe://shop.mesh/ns/") {
				b.Fatalf("%d bytes", size)
			}
			b.ReportMetric(float64(size), "filter-bytes")
		})
	}
}
