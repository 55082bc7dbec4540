package permission

import (
	"github.com/meshmatch/meshmatch/core/kind/meshtrafficpermission"
	"github.com/meshmatch/meshmatch/core/resource"
)

// EntriesOf returns the entries of a policy's rules, and its `from` items with an action,
// in the order of the policy. An item has no Match. An inbound that the policy selects may
// not be able to see all of them; see [NewDecisionList].
func EntriesOf(p *resource.Policy) []Entry {
	var out []Entry
	kri := p.KRI()
	for i := range p.Rules {
		conf, ok := p.Rules[i].Conf.(*meshtrafficpermission.RuleConf)
		if !ok {
			continue
		}
		rule := Rule{Policy: p, KRI: kri, Index: i, Conf: conf, Pos: p.Rules[i].Pos}
		for _, list := range ruleLists {
			entries := rule.list(list)
			for k := range entries {
				out = append(out, Entry{rule.place(list, k), &entries[k]})
			}
		}
	}
	for i := range p.From {
		if conf, ok := p.From[i].Conf.(*meshtrafficpermission.Conf); ok && conf.Action != nil {
			out = append(out, Entry{Place: Place{Policy: p, KRI: kri, List: From, Index: i}})
		}
	}
	return out
}
