package inspect

import (
	"fmt"

	"github.com/meshmatch/meshmatch/core/destination"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// overriddenItems warns of items, rules and defaults that set nothing on any
// dataplane that their policy selects, and of inbounds whose rule views exceed
// the limit (SPEC 5.5).
func (m *meshCheck) overriddenItems(views *ruleViews) []diag.Diagnostic {
	o := overridden{
		views:     views,
		sets:      map[rules.Origin]bool{},
		inbounds:  map[*resource.Policy]bool{},
		outbounds: map[*resource.Policy]bool{},
		any:       map[*resource.Policy]bool{},
		examined:  map[*rules.From]bool{},
	}
	for _, config := range m.configs {
		o.add(&config)
	}
	m.markDestinations(&o)
	for _, p := range m.policies {
		o.policy(p)
	}
	return o.warnings
}

// overridden collects the effects of items.
type overridden struct {
	views *ruleViews
	sets  map[rules.Origin]bool // items that set a leaf of some conf
	// The policies that select an inbound, a dataplane with outbounds, and any
	// dataplane. The items of other policies are not reported.
	inbounds, outbounds, any map[*resource.Policy]bool
	examined                 map[*rules.From]bool
	warnings                 []diag.Diagnostic
}

func (o *overridden) add(config *dataplaneConfig) {
	for _, m := range config.Matched.All() {
		p := m.Policy
		o.any[p] = true
		if len(config.Outbounds) > 0 {
			o.outbounds[p] = true
		}
		for j := range config.Inbounds {
			if m.Inbounds.Has(j) {
				o.inbounds[p] = true
			}
		}
	}
	o.mark(config.Default)
	for i := range config.Outbounds {
		o.mark(config.Outbounds[i].Effective)
		for _, route := range config.Outbounds[i].Routes {
			o.mark(route.Effective)
		}
	}
	for i := range config.Inbounds {
		for _, r := range firstOfMatch(config.Inbounds[i].Rules) {
			o.mark(r.Effective)
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
		config *rules.Config
		list   *destination.Outbound
	}
	seen := map[examined]bool{}
	for _, d := range m.dataplanes {
		outbounds := m.view.DestinationOutbounds(d)
		if len(outbounds) == 0 {
			continue
		}
		for _, shadow := range []bool{false, true} {
			for _, config := range m.view.Configs(d, ScopeOf(shadow)) {
				key := examined{config, &outbounds[0]}
				if config.Kind.To == nil || seen[key] {
					continue
				}
				seen[key] = true
				for _, matched := range config.Matched.All() {
					o.outbounds[matched.Policy] = true
				}
				confs := m.view.DestinationConfs(d, config.Kind.Name, ScopeOf(shadow))
				for i := range outbounds {
					conf := confs.Of(&outbounds[i])
					o.mark(conf.Effective)
					for _, route := range conf.Routes {
						o.mark(route.Effective)
					}
				}
			}
		}
	}
}

// from marks the items that set a leaf for some client of an inbound. If the
// rule view exceeds its limit, it marks all items, so that none has a warning.
func (o *overridden) from(config *dataplaneConfig, inbound int) {
	from, d := config.Inbounds[inbound].From, config.dataplane
	view, err := o.views.of(from)
	if err != nil {
		o.warnings = append(o.warnings, diag.Diagnostic{
			Code: diag.PastLimit, Pos: d.Pos, Path: fmt.Sprintf("networking.inbound[%d]", inbound),
			What: fmt.Sprintf("%s of inbound %s of %s: %s", config.Kind.Name, uniqueInboundName(d, inbound), d.Name, err),
			Hint: "ask for the conf of one client at a time, by its tags",
		})
		for _, origin := range from.Origins() {
			o.sets[origin] = true
		}
	}
	for _, r := range view {
		o.mark(r.Effective)
	}
}

func (o *overridden) mark(e *rules.Effective) {
	if e == nil {
		return
	}
	for _, origin := range e.Origins {
		o.sets[origin] = true
	}
}

func (o *overridden) policy(p *resource.Policy) {
	const removeIt = "remove it or change the order"
	kind := p.Type
	if o.outbounds[p] {
		for i := range p.To {
			o.item(rules.Origin{Policy: p, Index: i}, kind.To, "any outbound of the dataplanes", "no outbound is of that service, or other items override it whole; "+removeIt)
		}
	}
	if o.inbounds[p] {
		for i := range p.From {
			o.item(rules.Origin{Policy: p, Index: i}, kind.From, "any request to the inbounds", "other items override it whole, or rules replace it; "+removeIt)
		}
		for i := range p.Rules {
			if !kind.Rules.Unmerged { // unmerged rules are examined entry by entry
				o.item(rules.Origin{Policy: p, Index: i}, kind.Rules, "any request to the inbounds", "other rules override it whole; "+removeIt)
			}
		}
	}
	if p.Default != nil && o.any[p] {
		o.item(rules.Origin{Policy: p}, kind.Default, "any of the dataplanes", "other policies override it whole; "+removeIt)
	}
}

func (o *overridden) item(origin rules.Origin, section *resource.Section, what, hint string) {
	if o.sets[origin] {
		return
	}
	field, pos := itemOf(origin, section)
	o.warnings = append(o.warnings, diag.Diagnostic{
		Code: diag.SetsNothing, Pos: pos, Path: "spec." + field, Hint: hint,
		What: fmt.Sprintf("sets nothing for %s that %s %q selects", what, origin.Policy.Kind, origin.Policy.Name),
	})
}
