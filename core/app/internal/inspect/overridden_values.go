package inspect

import (
	"encoding/json"
	"slices"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/internal/words"
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// OverriddenValue is a value that an item sets and that is not in effect, because another
// item overrides it.
type OverriddenValue struct {
	Value json.RawMessage `json:"value"`
	Origin
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
	tree := decodedConf(e.Conf)
	for pointer, origin := range e.Fields() {
		held[leaf{origin, words.WithoutIndexes(pointer), string(valueOf(tree, pointer))}] = true
	}
	overridden := map[string][]OverriddenValue{}
	for _, item := range slices.Backward(items) {
		merger := section.Conf.NewMerger()
		merger.Fill(item.Conf, 0)
		tree := decodedConf(item.Conf)
		for pointer := range merger.Leaves() {
			value := valueOf(tree, pointer)
			if !held[leaf{item.Origin, words.WithoutIndexes(pointer), string(value)}] {
				overridden[pointer] = append(overridden[pointer], OverriddenValue{value, options.Origin(item.Origin, section)})
			}
		}
	}
	return overridden
}

// decodedConf returns the JSON of a conf, decoded; nil if it has none.
func decodedConf(c resource.Conf) (tree any) {
	if data, err := conf.Marshal(c); err == nil {
		_ = json.Unmarshal(data, &tree) // it was just encoded
	}
	return tree
}

// valueOf returns the JSON of the value at a pointer.
func valueOf(tree any, pointer string) json.RawMessage {
	data, err := conf.Marshal(Lookup(tree, pointer))
	if err != nil {
		return json.RawMessage("null")
	}
	return data
}

// addOverridden sets the overridden values of an outbound with tags and of its routes. The
// confs of such outbounds are shared, and lack the items that set nothing.
func (a *dataplaneAnswer) addOverridden(shown *Outbound, config *results.Config, outbound *results.OutboundConfig, options Options) {
	section := config.Kind.To
	if shown.EffectiveConf != nil {
		shown.Overridden = overriddenValues(outbound.Effective, a.outboundItems(config, shown.Outbound.Tags, nil), section, options)
	}
	for i := range shown.Routes {
		at := slices.IndexFunc(outbound.Routes, func(r results.RouteConfig) bool { return options.PolicyKRI(r.Route) == shown.Routes[i].Route })
		if route := &outbound.Routes[at]; route.Effective != nil {
			shown.Routes[i].Overridden = overriddenValues(route.Effective, a.outboundItems(config, shown.Outbound.Tags, route.Route), section, options)
		}
	}
}

// outboundItems returns the items that apply to an outbound with tags (SPEC 4.2) or, if
// route is not nil, to a route of it (SPEC 4.3), lowest priority first.
func (a *dataplaneAnswer) outboundItems(config *results.Config, tags resource.Tags, route *resource.Policy) []results.Contribution {
	s := a.view.Semantics()
	var items []results.Contribution
	for _, m := range config.Matched.All() {
		p := m.Policy
		if p.TargetRef.Kind.IsRoute() && (route == nil || !s.RefersToRoute(p, &p.TargetRef, route)) {
			continue
		}
		for i := range p.To {
			t := &p.To[i].TargetRef
			if t.Kind.IsRoute() && route != nil && s.RefersToRoute(p, t, route) || !t.Kind.IsRoute() && t.SelectsOutbound(tags) {
				items = append(items, results.Contribution{Origin: results.Origin{Policy: p, Index: i}, Conf: p.To[i].Conf})
			}
		}
	}
	return items
}
