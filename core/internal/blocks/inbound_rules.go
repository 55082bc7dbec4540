package blocks

import (
	"cmp"
	"slices"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// inboundRules returns the merged rules of an inbound, most specific first (SPEC 7.1).
func (t *Table) inboundRules(section *resource.Section, policies []*resource.Policy, fromIsRule bool) []results.InboundRule {
	var placed []placedRule
	for _, g := range groupRules(policies, fromIsRule) {
		effective := t.memo.Merge(section, g.items)
		for i, m := range g.matches {
			placed = append(placed, placedRule{results.InboundRule{Match: m, Effective: effective}, g, i})
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
	sorted := make([]results.InboundRule, len(placed))
	for i := range placed {
		sorted[i] = placed[i].InboundRule
	}
	return sorted
}

// ruleGroup contains the rules with one set of matches. It has the position of
// its highest-priority rule.
type ruleGroup struct {
	matches []conf.Match
	items   []results.Contribution
	policy  int // position of the highest-priority rule's policy
	rule    int // index of that rule in the policy
}

type placedRule struct {
	results.InboundRule
	group *ruleGroup
	match int // index in the group's matches
}

// groupRules concatenates the policies' rules and groups those whose matches are equal as
// sets. If fromIsRule is set, it treats each `from` item as a rule without matches.
func groupRules(policies []*resource.Policy, fromIsRule bool) []*ruleGroup {
	var groups []*ruleGroup
	byMatches := map[string]*ruleGroup{}
	for position, p := range policies {
		add := func(i int, matches []conf.Match, c resource.Conf) {
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
			g.items = append(g.items, contribution(p, i, c))
			g.matches, g.policy, g.rule = matches, position, i
		}
		for i := range p.Rules {
			add(i, p.Rules[i].Matches, p.Rules[i].Conf)
		}
		for i := range p.From {
			if fromIsRule {
				add(i, nil, p.From[i].Conf)
			}
		}
	}
	return groups
}

// unmergedRules concatenates the policies' rules (SPEC 7.3).
func unmergedRules(policies []*resource.Policy) []results.Contribution {
	var out []results.Contribution
	for _, p := range policies {
		for i := range p.Rules {
			out = append(out, contribution(p, i, p.Rules[i].Conf))
		}
	}
	return out
}

func contribution(p *resource.Policy, index int, conf resource.Conf) results.Contribution {
	return results.Contribution{Origin: results.Origin{Policy: p, Index: index}, Conf: conf}
}
