package oracle

import (
	"strconv"
	"testing"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/collector"
	"github.com/meshmatch/meshmatch/core/internal/oracle"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/fuzz/naive"
)

// Scenarios of Kuma contain copies from other control planes, by whose names nothing refers
// to them, and what Kuma 3 does not read.
func TestScenariosOfKumaMeet(t *testing.T) {
	oracle.Sequential(t)
	g := oracle.AllKinds(t).WithKumaLabels().WithDestinations()
	seen := map[string]int{}
	for seed := range uint64(5000) {
		set, err := g.Seeded(seed).Load()
		if err != nil {
			t.Fatal(err)
		}
		synced := func(m *resource.Meta) bool {
			return m.Name == naive.SyncedName(m.Mesh, m.DisplayName(), m.Zone(), m.HomeNamespace())
		}
		for _, d := range set.Dataplanes {
			if synced(&d.Meta) {
				seen["a copy of a dataplane"]++
			}
		}
		for _, p := range set.Policies {
			if synced(&p.Meta) {
				seen["a copy of a policy, "+map[bool]string{true: "in kuma-system", false: "without a namespace"}[p.Namespace == resource.SystemNamespace]]++
			}
			if semantics.Kuma3.AsStored(p) != p {
				seen["a policy with fields that are not read or set"]++
			}
		}
		for _, p := range set.Policies {
			for _, item := range append(p.To, resource.Item{Conf: p.Default}) {
				for _, ref := range conf.CollectorRefs(item.Conf) {
					_, found := collector.New(semantics.Kuma, set.Objects).Find(ref)
					seen["a collector is found: "+strconv.FormatBool(found)]++
				}
			}
		}
		for _, o := range set.Objects {
			d, is := o.(resource.Destination)
			if is && synced(o.Identity()) {
				seen["a copy of a destination"]++
			}
			if is && semantics.Kuma3.Refused(d) != "" {
				seen["a destination that is refused"]++
			}
		}
	}
	for _, meeting := range []string{
		"a copy of a dataplane", "a copy of a policy, in kuma-system", "a copy of a policy, without a namespace", "a copy of a destination",
		"a policy with fields that are not read or set", "a destination that is refused",
		"a collector is found: true", "a collector is found: false",
	} {
		if seen[meeting] < 10 {
			t.Errorf("%q occurs %d times in 5,000 scenarios", meeting, seen[meeting])
		}
	}
}
