package naive

import (
	"sort"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/resource"
)

// mergedRule is one or more rules with equal matches. The last item has the highest
// priority; the matches are in its form.
type mergedRule struct {
	matches []conf.Match
	items   []item
}

// splitRule is one match of a merged rule.
type splitRule struct {
	match    conf.Match
	items    []item
	priority int // the position of the last item's policy in the order
	index    int // the index of that item in its policy
	number   int // the index of the match in that item
}

// rules implements SPEC 7.1: concatenate, merge equal matches, split, sort.
func (m *mesh) rules(policies []*resource.Policy) []any {
	priority := map[*resource.Policy]int{}
	var merged []*mergedRule
	for place, p := range policies {
		priority[p] = place
		for i := range p.Rules {
			merged = addRule(merged, item{p, i, p.Rules[i].Conf}, matchesOf(&p.Rules[i]))
		}
		for i := range p.From {
			if m.fromIsRule(p.Type) {
				merged = addRule(merged, item{p, i, p.From[i].Conf}, matchesOf(&resource.Rule{}))
			}
		}
	}
	var split []splitRule
	for _, rule := range merged {
		highest := rule.items[len(rule.items)-1]
		for number, match := range rule.matches {
			split = append(split, splitRule{match, rule.items, priority[highest.policy], highest.index, number})
		}
	}
	sort.SliceStable(split, func(i, j int) bool { return before(&split[i], &split[j]) })
	list := []any{}
	for _, rule := range split {
		answer := map[string]any{"match": toJSON(rule.match)}
		m.addConf(answer, rule.items)
		list = append(list, answer)
	}
	return list
}

// matchesOf returns the matches of a rule. A rule without matches has one match,
// for every request.
func matchesOf(rule *resource.Rule) []conf.Match {
	if len(rule.Matches) == 0 {
		return []conf.Match{{}}
	}
	return rule.Matches
}

// addRule adds a rule with a higher priority than all previous rules. If a rule has
// equal matches, the two are merged at the place of the new rule.
func addRule(rules []*mergedRule, it item, matches []conf.Match) []*mergedRule {
	added := &mergedRule{matches: matches}
	var rest []*mergedRule
	for _, rule := range rules {
		if sameMatches(rule.matches, matches) {
			added.items = rule.items
		} else {
			rest = append(rest, rule)
		}
	}
	added.items = append(added.items, it)
	return append(rest, added)
}

// before reports whether rule a is evaluated before rule b.
func before(a, b *splitRule) bool {
	ra, rb := specificity(&a.match), specificity(&b.match)
	for i := range ra {
		if ra[i] != rb[i] {
			return ra[i] > rb[i]
		}
	}
	switch {
	case a.priority != b.priority:
		return a.priority > b.priority
	case a.index != b.index:
		return a.index < b.index
	}
	return a.number < b.number
}

// specificity returns the numbers that SPEC 7.1 compares, in its order. The rule with
// the larger number is first.
func specificity(m *conf.Match) [7]int {
	var s [7]int
	if m.SpiffeID != nil {
		switch m.SpiffeID.Type {
		case "Exact":
			s[0] = 2
		case "Prefix":
			s[0], s[1] = 1, len(m.SpiffeID.Value)
		}
	}
	if m.SNI != nil {
		s[2] = 1
	}
	if m.Path != nil {
		switch m.Path.Type {
		case "Exact":
			s[3] = 3
		case "Prefix":
			s[3], s[4] = 2, len(m.Path.Value)
		case "RegularExpression":
			s[3] = 1
		}
	}
	if m.Method != nil {
		s[5] = 1
	}
	s[6] = len(m.Headers)
	return s
}
