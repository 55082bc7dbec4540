package check

import (
	"fmt"
	"slices"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/internal/ruleviews"
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/destination"
	"github.com/meshmatch/meshmatch/core/internal/items"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

func (o *overridden) add(config *dataplaneConfig) {
	for _, m := range config.Matched.All() {
		p := m.Policy
		o.any[p] = true
		if len(config.Outbounds) > 0 {
			o.outbounds[p] = true
			o.keepsFromTags(p)
		}
		for j := range config.Inbounds {
			if m.Inbounds.Has(j) {
				o.inbounds[p] = true
			}
		}
	}
	o.mark(config.Default, config.Kind.Default, inDefault, func() []results.Contribution { return defaultsOf(config) })
	for i := range config.Outbounds {
		tags := config.dataplane.Outbounds[config.Outbounds[i].Index].Tags
		o.mark(config.Outbounds[i].Effective, config.Kind.To, inTo, func() []results.Contribution {
			// A policy with items for routes may apply to no outbound with tags (SPEC 17.3).
			return slices.DeleteFunc(items.Contributions(o.semantics, config.Config, tags, nil), func(c results.Contribution) bool {
				return !o.semantics.AppliesToTags(c.Origin.Policy)
			})
		})
		for _, route := range config.Outbounds[i].Routes {
			o.mark(route.Effective, config.Kind.To, inTo, func() []results.Contribution {
				return items.Contributions(o.semantics, config.Config, tags, route.Route)
			})
		}
	}
	for i := range config.Inbounds {
		if len(config.Inbounds[i].Rules) > 0 {
			o.rules(config, i)
		}
		if from := config.Inbounds[i].From; from != nil && !o.examined[from] {
			o.examined[from] = true
			o.from(config, i)
		}
	}
}

// markDestinations marks the items that set a leaf for an outbound of a destination.
// Dataplanes with the same config and the same list of outbounds are examined once.
func (m *meshCheck) markDestinations(o *overridden) {
	type examined struct {
		config *results.Config
		list   *destination.Outbound
	}
	seen := map[examined]bool{}
	for _, d := range m.dataplanes {
		outbounds := m.view.DestinationOutbounds(d)
		if len(outbounds) == 0 {
			continue
		}
		for _, shadow := range []bool{false, true} {
			for _, config := range m.view.Configs(d, inspect.ScopeOf(shadow)) {
				key := examined{config, &outbounds[0]}
				if config.Kind.To == nil || seen[key] {
					continue
				}
				seen[key] = true
				for _, matched := range config.Matched.All() {
					o.outbounds[matched.Policy] = true
				}
				confs := m.view.DestinationConfs(d, config.Kind.Name, inspect.ScopeOf(shadow))
				for i := range outbounds {
					conf := confs.ConfigFor(&outbounds[i])
					o.markNeeded(conf.Effective, inTo)
					for _, route := range conf.Routes {
						o.markNeeded(route.Effective, inTo)
					}
				}
			}
		}
	}
}

// markListeners keeps the items that set a leaf for a listener of a builtin gateway or of a zone
// proxy.
func (m *meshCheck) markListeners(o *overridden) {
	for _, d := range m.dataplanes {
		if refs, _ := inspect.ListenerPoints(m.view, d); len(refs) == 0 {
			continue
		}
		for _, shadow := range []bool{false, true} {
			for _, config := range m.view.Configs(d, inspect.ScopeOf(shadow)) {
				for _, listener := range m.view.ListenerConfigs(d, config.Kind.Name, inspect.ScopeOf(shadow)) {
					o.listener(config.Kind, listener)
				}
			}
		}
	}
}

func (o *overridden) listener(kind *resource.Kind, c *results.ListenerConfig) {
	if inspect.ListenerSection(kind) == kind.To {
		o.markNeeded(c.To, inTo)
		for _, host := range c.Hosts {
			o.markNeeded(host.Effective, inTo)
		}
	}
	for _, rule := range c.Inbound.Rules {
		for _, origin := range rule.Origins {
			o.keep(placeOf(origin, inRules))
		}
	}
	if c.Inbound.From != nil {
		for _, origin := range c.Inbound.From.Origins() {
			o.keep(items.ItemPlace{Origin: origin, Array: inFrom})
		}
	}
}

// from marks the items that set a leaf for some client of an inbound. If the
// rule view exceeds its limit, it marks all items, so that none has a warning.
func (o *overridden) from(config *dataplaneConfig, inbound int) {
	from, d := config.Inbounds[inbound].From, config.dataplane
	view, err := o.views.RulesOf(from)
	if err != nil {
		o.warn(diag.Diagnostic{
			Code: diag.PastLimit, Pos: d.Pos, Path: fmt.Sprintf("networking.inbound[%d]", inbound),
			What: fmt.Sprintf("%s of inbound %s of %s: %s", config.Kind.Name, find.InboundName(d, inbound), d.Name, err),
			Hint: "ask for the conf of one client at a time, by its tags",
		})
		for _, origin := range from.Origins() {
			o.keep(items.ItemPlace{Origin: origin, Array: inFrom})
		}
	}
	for _, origin := range from.Origins() {
		o.applies[origin] = true
	}
	for _, r := range view {
		o.markNeeded(r.Effective, inFrom)
	}
}

// mark notes which items of an array set something, and which of them a conf needs. Items returns all
// items of the conf, lowest priority first.
func (o *overridden) mark(e *results.Effective, section *resource.Section, in string, items func() []results.Contribution) {
	if e == nil {
		return
	}
	var all []results.Contribution
	for _, origin := range e.Origins {
		at := placeOf(origin, in)
		o.sets[at] = true
		if o.needed[at] {
			continue
		}
		if all == nil {
			all = items()
		}
		others := slices.DeleteFunc(slices.Clone(all), func(c results.Contribution) bool { return c.Origin == origin })
		if without := results.Merge(section.Conf, others); without == nil || !section.Conf.Equal(without.Conf, e.Conf) {
			o.needed[at] = true
		}
	}
}

// markNeeded is mark for a conf of an array whose items are not examined one by one.
func (o *overridden) markNeeded(e *results.Effective, in string) {
	if e == nil {
		return
	}
	for _, origin := range e.Origins {
		o.keep(items.ItemPlace{Origin: origin, Array: in})
	}
}

// keep marks an item that no finding is about.
func (o *overridden) keep(at items.ItemPlace) { o.sets[at], o.needed[at] = true, true }

// defaultsOf returns the defaults that a dataplane's conf is merged from (SPEC 4.4).
func defaultsOf(config *dataplaneConfig) []results.Contribution {
	var items []results.Contribution
	for _, m := range config.Matched.All() {
		if p := m.Policy; p.Default != nil && !p.TargetRef.Kind.IsRoute() {
			items = append(items, results.Contribution{Origin: results.Origin{Policy: p}, Conf: p.Default})
		}
	}
	return items
}

// keepsFromTags marks the items for routes of a policy that applies to no outbound with tags
// because of them: without the last one, the other items would apply (SPEC 17.3).
func (o *overridden) keepsFromTags(p *resource.Policy) {
	others := func(item resource.Item) bool { return !item.TargetRef.Kind.IsRoute() }
	if o.semantics.AppliesToTags(p) || !slices.ContainsFunc(p.To, others) {
		return
	}
	for i := range p.To {
		if origin := (results.Origin{Policy: p, Index: i}); p.To[i].TargetRef.Kind.IsRoute() {
			o.keep(items.ItemPlace{Origin: origin, Array: inTo})
		}
	}
}

// rules marks the items of the rules of an inbound. Of several rules with the same
// matches, the one with the highest priority gives them their place among the other rules.
// So it has an effect if there are others (SPEC 7.1).
func (o *overridden) rules(config *dataplaneConfig, inbound int) {
	like := map[string][]results.Contribution{} // by their matches
	for _, m := range config.Matched.All() {
		if !m.Inbounds.Has(inbound) {
			continue
		}
		p := m.Policy
		add := func(i int, c resource.Conf) {
			origin := results.Origin{Policy: p, Index: i}
			key := matchesOf(origin)
			like[key] = append(like[key], results.Contribution{Origin: origin, Conf: c})
		}
		for i := range p.Rules {
			add(i, p.Rules[i].Conf)
		}
		for i := range p.From {
			if o.fromIsRule[config.Kind] {
				add(i, p.From[i].Conf)
			}
		}
	}
	for _, items := range like {
		if last := items[len(items)-1].Origin; len(items) > 1 && len(like) > 1 {
			o.keep(placeOf(last, inRules))
		}
	}
	for _, r := range ruleviews.FirstOfMatch(config.Inbounds[inbound].Rules) {
		if len(r.Origins) > 0 {
			items := like[matchesOf(r.Origins[0])]
			o.mark(r.Effective, config.Kind.Rules, inRules, func() []results.Contribution { return items })
		}
	}
}

// matchesOf returns a text that is equal for rules with equal matches. A `from` item, which
// is read as a rule, has none.
func matchesOf(o results.Origin) string {
	if len(o.Policy.Rules) == 0 || len(o.Policy.Rules[o.Index].Matches) == 0 {
		return conf.MatchesKey([]conf.Match{{}})
	}
	return conf.MatchesKey(o.Policy.Rules[o.Index].Matches)
}
