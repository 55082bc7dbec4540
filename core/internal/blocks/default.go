package blocks

import (
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// defaultConf returns the block of the one conf of a kind without to, from and
// rules: the merge of the policies' defaults in order (SPEC 4.4). Policies that
// are attached to a route do not apply to the dataplane itself. A policy without a default has no
// effect: a control plane stores one.
func (t *Table) defaultConf(kind *resource.Kind, matched results.Matched) *results.Effective {
	var items []results.Contribution
	for _, s := range matched.All() {
		if p := s.Policy; p.Default != nil && !p.TargetRef.Kind.IsRoute() {
			items = append(items, results.Contribution{Origin: results.Origin{Policy: p}, Conf: p.Default})
		}
	}
	return t.memo.Merge(kind.Default, items)
}
