package inspect

import (
	"encoding/json"
	"slices"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/internal/words"
	"github.com/meshmatch/meshmatch/core/internal/content"
	"github.com/meshmatch/meshmatch/core/internal/items"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// OverriddenValue is a value that an item sets and that is not in effect, because another
// item overrides it.
type OverriddenValue struct {
	Value json.RawMessage `json:"value"`
	ItemRef
}

// overriddenValues returns the values of items that a merged conf does not have, by JSON
// pointer. The items are in the order of application.
func overriddenValues(e *results.Effective, items []results.Contribution, section *resource.Section, options Options) map[string][]OverriddenValue {
	if len(items) < 2 {
		return nil
	}
	type leaf struct {
		results.Origin
		field, value string
	}
	held := map[leaf]bool{}
	tree := content.Tree(e.Conf)
	for pointer, origin := range e.Fields() {
		held[leaf{origin, words.WithoutIndexes(pointer), string(content.Encode(Lookup(tree, pointer)))}] = true
	}
	overridden := map[string][]OverriddenValue{}
	for _, item := range slices.Backward(items) {
		merger := section.Conf.NewMerger()
		merger.Fill(item.Conf, 0)
		tree := content.Tree(item.Conf)
		for pointer := range merger.Leaves() {
			value := content.Encode(Lookup(tree, pointer))
			if !held[leaf{item.Origin, words.WithoutIndexes(pointer), string(value)}] {
				overridden[pointer] = append(overridden[pointer], OverriddenValue{value, options.Origin(item.Origin, section)})
			}
		}
	}
	return overridden
}

// addOverridden sets the overridden values of an outbound with tags and of its routes. The
// confs of such outbounds are shared, and lack the items that set nothing.
func (a *dataplaneAnswer) addOverridden(shown *Outbound, config *results.Config, outbound *results.OutboundConfig, options Options) {
	section := config.Kind.To
	if shown.EffectiveConf != nil {
		shown.Overridden = overriddenValues(outbound.Effective, items.Contributions(a.view.Semantics(), config, shown.Outbound.Tags, nil), section, options)
	}
	for i := range shown.Routes {
		at := slices.IndexFunc(outbound.Routes, func(r results.RouteConfig) bool { return options.PolicyKRI(r.Route) == shown.Routes[i].Route })
		if route := &outbound.Routes[at]; route.Effective != nil {
			shown.Routes[i].Overridden = overriddenValues(route.Effective, items.Contributions(a.view.Semantics(), config, shown.Outbound.Tags, route.Route), section, options)
		}
	}
}
