package blocks

import (
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// defaultConf returns the block of the one conf of a kind without to, from and
// rules: the merge of the policies' defaults in order (SPEC 4.4). Policies that
// are attached to a route do not apply to the dataplane itself.
func (t *Table) defaultConf(kind *resource.Kind, matched rules.Matched) *rules.Effective {
	var items []rules.Contribution
	for _, s := range matched.All() {
		if p := s.Policy; !p.TargetRef.Kind.IsRoute() {
			items = append(items, rules.Contribution{Origin: rules.Origin{Policy: p}, Conf: p.Default})
		}
	}
	return t.intern(kind.Default, rules.Merge(kind.Default.Conf, items), items)
}
