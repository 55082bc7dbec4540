package rules

import "github.com/meshmatch/meshmatch/core/partition"

// Rules returns the rule view for any outbound: the first rule that selects an
// outbound has its conf, more specific rules come first (SPEC 4.5). What
// selects routes is not in it. The error is a [*TooManyRules].
func (t *To) Rules(limits partition.Limits) ([]SelectorRule, error) {
	view := ruleView{conf: t.conf}
	for i, e := range t.entries {
		if e.scope == nil && !e.target.Kind.IsRoute() {
			view.add(t.items[i], e.target)
		}
	}
	return view.ordered(limits)
}
