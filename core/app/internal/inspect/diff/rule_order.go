package diff

import (
	"encoding/json"
	"slices"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/internal/ruleviews"
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// matchJSON returns a match as JSON. A match has only strings, so this cannot
// fail.
func matchJSON(m *conf.Match) string {
	data, _ := conf.Marshal(m)
	return string(data)
}

// ruleOrders contains the matches of each inbound's rules, in order. `diff`
// identifies a rule by its match, so an additional rule is one change. The
// order of the rules in both views is compared separately.
type ruleOrders map[leafKey]ruleOrder

type ruleOrder struct {
	place   *inspect.Place
	matches []string
}

func ruleOrdersOf(s side, configs []*results.Config, d *resource.Dataplane) ruleOrders {
	orders := ruleOrders{}
	for _, config := range configs {
		for place, c := range s.points(config, d) {
			if len(c.Rules) == 0 {
				continue
			}
			order := ruleOrder{place: &place}
			order.matches = lists.Map(ruleviews.FirstOfMatch(c.Rules), func(r results.InboundRule) string { return matchJSON(&r.Match) })
			orders[leafKey{kind: config.Kind.Name, place: order.place.String(), field: "order"}] = order
		}
	}
	return orders
}

// add adds the orders to the leaves of each view.
func (before ruleOrders) add(after ruleOrders, old, next *leaves) {
	for key, order := range before {
		matches := after[key].matches
		old.at[key] = leaf{value: common(order.matches, matches), place: order.place}
		next.at[key] = leaf{value: common(matches, order.matches), place: order.place}
	}
}

// common returns, as JSON, the elements of the list that are also in the other
// list.
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
