package ruleviews

import "github.com/meshmatch/meshmatch/core/results"

// FirstOfMatch returns the rules without rules that never apply because an
// earlier rule has the same match.
func FirstOfMatch(list []results.InboundRule) []results.InboundRule {
	var first []results.InboundRule
	seen := map[string]bool{}
	for _, r := range list {
		if key := r.Match.Key(); !seen[key] {
			seen[key] = true
			first = append(first, r)
		}
	}
	return first
}
