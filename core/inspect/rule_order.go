package inspect

import (
	"encoding/json"
	"slices"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// firstOfMatch leaves out rules whose match an earlier one has: they never
// count.
func firstOfMatch(list []rules.InboundRule) []rules.InboundRule {
	var first []rules.InboundRule
	seen := map[string]bool{}
	for _, r := range list {
		if key := r.Match.Key(); !seen[key] {
			seen[key] = true
			first = append(first, r)
		}
	}
	return first
}

// matchJSON prints a match, which is made of texts alone and so always can be.
func matchJSON(m *conf.Match) string {
	data, _ := resource.Marshal(m)
	return string(data)
}

// ruleOrders is the matches of each inbound's rules, first match first. `diff`
// compares rules by their match, so that one more rule is one change, and the
// order of those that both sides have by itself.
type ruleOrders map[place][]string

func ruleOrdersOf(configs []*rules.Config, d *resource.Dataplane) ruleOrders {
	orders := ruleOrders{}
	for _, config := range configs {
		for i := range config.Inbounds {
			at := place{kind: config.Kind.Name, part: inboundTitle(d, i) + " order of rules"}
			for _, r := range firstOfMatch(config.Inbounds[i].Rules) {
				orders[at] = append(orders[at], matchJSON(&r.Match))
			}
		}
	}
	return orders
}

// add puts the orders into the leaves of either side.
func (before ruleOrders) add(after ruleOrders, old, next leaves) {
	for at, matches := range before {
		old[at] = leaf{value: common(matches, after[at])}
		next[at] = leaf{value: common(after[at], matches)}
	}
}

// common is the list, as JSON, of the elements that are in the other list too.
func common(list, other []string) json.RawMessage {
	data := []byte{'['}
	for _, match := range list {
		if !slices.Contains(other, match) {
			continue
		}
		if len(data) > 1 {
			data = append(data, ',')
		}
		data = append(data, match...)
	}
	return append(data, ']')
}
