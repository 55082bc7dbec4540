package rules

import (
	"github.com/meshmatch/meshmatch/core/partition"
	"github.com/meshmatch/meshmatch/core/resource"
)

// ToRules returns the rule view of the concatenated `to` arrays of policies,
// which are all of the kind, ordered, later ones overriding (SPEC 4.5): the
// first rule that selects an outbound has its conf, more specific rules come
// first. What selects routes is not in it. The kind must have a To section. The
// error is a [*TooManyRules].
func ToRules(kind *resource.Kind, policies []*resource.Policy, limits partition.Limits) ([]SelectorRule, error) {
	view := ruleView{conf: kind.To.Conf}
	for _, p := range policies {
		if p.TargetRef.Kind.IsRoute() {
			continue
		}
		for i := range p.To {
			if item := &p.To[i]; !item.TargetRef.Kind.IsRoute() {
				view.add(Contribution{Origin{p, i}, item.Conf}, &item.TargetRef)
			}
		}
	}
	return view.ordered(limits)
}
