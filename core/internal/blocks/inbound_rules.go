package blocks

import (
	"cmp"
	"slices"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// inboundRules returns the merged rules of an inbound, most specific first, and
// the blocks of their confs with a reference to each (SPEC 7.1).
func (t *Table) inboundRules(section *resource.Section, policies []*resource.Policy) ([]rules.InboundRule, []*rules.Effective) {
	var placed []placedRule
	var confs []*rules.Effective
	for _, g := range groupRules(policies) {
		effective := t.intern(section, rules.Merge(section.Conf, g.items), g.items)
		confs = append(confs, effective)
		for i, m := range g.matches {
			placed = append(placed, placedRule{rules.InboundRule{Match: m, Effective: effective}, g, i})
		}
	}
	slices.SortStableFunc(placed, func(a, b placedRule) int {
		return cmp.Or(
			compareSpecificity(&a.Match, &b.Match),
			// the higher-priority policy first, then list order
			cmp.Compare(b.group.policy, a.group.policy),
			cmp.Compare(a.group.rule, b.group.rule),
			cmp.Compare(a.match, b.match),
		)
	})
	sorted := make([]rules.InboundRule, len(placed))
	for i := range placed {
		sorted[i] = placed[i].InboundRule
	}
	return sorted, confs
}

// ruleGroup contains the rules with one set of matches. Its position is that of
// its highest-priority rule.
type ruleGroup struct {
	matches []conf.Match
	items   []rules.Contribution
	policy  int // position of the highest-priority rule's policy
	rule    int // index of that rule in the policy
}

type placedRule struct {
	rules.InboundRule
	group *ruleGroup
	match int // index in the group's matches
}

// groupRules concatenates the policies' rules and groups those whose matches are
// equal as sets.
func groupRules(policies []*resource.Policy) []*ruleGroup {
	var groups []*ruleGroup
	byMatches := map[string]*ruleGroup{}
	for position, p := range policies {
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
			g.items = append(g.items, contribution(p, i, rule.Conf))
			g.matches, g.policy, g.rule = matches, position, i
		}
	}
	return groups
}

// unmergedRules concatenates the policies' rules (SPEC 7.3).
func unmergedRules(policies []*resource.Policy) []rules.Contribution {
	var out []rules.Contribution
	for _, p := range policies {
		for i := range p.Rules {
			out = append(out, contribution(p, i, p.Rules[i].Conf))
		}
	}
	return out
}

func contribution(p *resource.Policy, index int, conf resource.Conf) rules.Contribution {
	return rules.Contribution{Origin: rules.Origin{Policy: p, Index: index}, Conf: conf}
}
