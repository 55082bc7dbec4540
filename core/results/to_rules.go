package results

import "github.com/meshmatch/meshmatch/core/internal/partition"

// ToRules returns the rule view of the concatenated `to` arrays of the matched policies (SPEC
// 4.5): the first rule that selects an outbound has its conf. More specific rules come first. It
// does not include items that select routes or refer to destinations. The kind must have `to`.
// The error is a [*LimitError].
func (c *Config) ToRules(limits partition.Limits) ([]SelectorRule, error) {
	view := ruleView{conf: c.Kind.To.Conf}
	for _, s := range c.Matched.All() {
		p := s.Policy
		if p.TargetRef.Kind.IsRoute() {
			continue
		}
		for i := range p.To {
			if item := &p.To[i]; !item.TargetRef.Kind.IsRoute() && !item.TargetRef.RefersToDestination() {
				view.add(Contribution{Origin{p, i}, item.Conf}, &item.TargetRef)
			}
		}
	}
	return view.Ordered(limits)
}
