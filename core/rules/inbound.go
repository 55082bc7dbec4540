package rules

import (
	"cmp"
	"slices"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/resource"
)

// InboundRule is one rule of an inbound; of an inbound's rules the first one
// whose match holds counts (SPEC 7.1).
type InboundRule struct {
	Match conf.Match
	*Effective
}

// inboundRules returns the rules of an inbound, first match first. The policies
// are all of the kind, ordered, and select the inbound; the kind must have a
// Rules section that is merged.
func inboundRules(kind *resource.Kind, policies []*resource.Policy) []InboundRule {
	groups := groupRules(policies)
	var out []placedRule
	for _, g := range groups {
		effective := Merge(kind.Rules.Conf, g.items)
		for i, m := range g.matches {
			out = append(out, placedRule{InboundRule{m, effective}, g, i})
		}
	}
	slices.SortStableFunc(out, func(a, b placedRule) int {
		return cmp.Or(
			compareSpecificity(&a.Match, &b.Match),
			// the higher-priority policy first, then list order
			cmp.Compare(b.group.policy, a.group.policy),
			cmp.Compare(a.group.rule, b.group.rule),
			cmp.Compare(a.match, b.match),
		)
	})
	rules := make([]InboundRule, len(out))
	for i := range out {
		rules[i] = out[i].InboundRule
	}
	return rules
}

// ruleGroup is the rules with one set of matches. Its place is the one of its
// highest-priority member.
type ruleGroup struct {
	matches []conf.Match
	items   []Contribution
	policy  int // rank of the highest-priority member's policy
	rule    int // index of the rule in it
}

type placedRule struct {
	InboundRule
	group *ruleGroup
	match int
}

// groupRules concatenates the policies' rules and joins those whose matches
// are equal as sets.
func groupRules(policies []*resource.Policy) []*ruleGroup {
	var groups []*ruleGroup
	byMatches := map[string]*ruleGroup{}
	for rank, p := range policies {
		for i := range p.Rules {
			rule := &p.Rules[i]
			matches := rule.Matches
			if len(matches) == 0 {
				matches = []conf.Match{{}} // every request
			}
			key := conf.MatchesKey(matches)
			g := byMatches[key]
			if g == nil {
				g = &ruleGroup{}
				byMatches[key] = g
				groups = append(groups, g)
			}
			g.items = append(g.items, Contribution{Origin{p, i}, rule.Conf})
			g.matches, g.policy, g.rule = matches, rank, i
		}
	}
	return groups
}
