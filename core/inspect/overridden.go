package inspect

import (
	"fmt"

	"github.com/meshmatch/meshmatch/core/partition"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
	"github.com/meshmatch/meshmatch/core/strict"
)

// overriddenItems warns of items, rules and defaults that set nothing on any
// dataplane that their policy selects, and of inbounds whose rule views pass
// the limit, so that nothing can be said (SPEC 5.5).
func overriddenItems(policies []*resource.Policy, configs []dataplaneConfig) []strict.Diagnostic {
	o := overridden{
		counts:    map[rules.Origin]bool{},
		inbounds:  map[*resource.Policy]bool{},
		outbounds: map[*resource.Policy]bool{},
		whole:     map[*resource.Policy]bool{},
		views:     map[*rules.From]bool{},
	}
	for _, config := range configs {
		o.config(&config)
	}
	for _, p := range policies {
		o.policy(p)
	}
	return o.warnings
}

type overridden struct {
	counts map[rules.Origin]bool // items that set a leaf for somebody
	// The policies that select an inbound, a dataplane with outbounds, and
	// any dataplane: where they do not, it says nothing that they set nothing.
	inbounds, outbounds, whole map[*resource.Policy]bool
	views                      map[*rules.From]bool // that were looked at
	warnings                   []strict.Diagnostic
}

func (o *overridden) config(config *dataplaneConfig) {
	for _, m := range config.Matched.All() {
		p := m.Policy
		o.whole[p] = true
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
		if from := config.Inbounds[i].From; from != nil {
			o.from(from, config.dataplane, i)
		}
	}
}

// from marks what counts for some client of an inbound. A rule view past its
// limit tells nothing, so all of its items count.
func (o *overridden) from(from *rules.From, d *resource.Dataplane, inbound int) {
	if o.views[from] {
		return
	}
	o.views[from] = true
	view, err := from.Ordered(partition.Limits{})
	if err != nil {
		o.warnings = append(o.warnings, strict.Diagnostic{
			Pos: d.Pos, Path: fmt.Sprintf("networking.inbound[%d]", inbound), What: err.Error(),
			Hint: "ask for one client at a time: conf --inbound NAME --tag KEY=VALUE",
		})
		for _, origin := range from.Origins() {
			o.counts[origin] = true
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
		o.counts[origin] = true
	}
}

func (o *overridden) policy(p *resource.Policy) {
	const removeIt = "remove it or change the order"
	if o.outbounds[p] {
		for i := range p.To {
			o.item(p, i, fmt.Sprintf("spec.to[%d]", i), p.To[i].Pos, "outbound of the dataplanes", "no outbound is of that service, or other items override it whole; "+removeIt)
		}
	}
	if o.inbounds[p] {
		for i := range p.From {
			o.item(p, i, fmt.Sprintf("spec.from[%d]", i), p.From[i].Pos, "request to the inbounds", "other items override it whole, or rules take its place; "+removeIt)
		}
		for i := range p.Rules {
			if !p.Type.Rules.Unmerged { // those are looked at entry by entry
				o.item(p, i, fmt.Sprintf("spec.rules[%d]", i), p.Rules[i].Pos, "request to the inbounds", "other rules override it whole; "+removeIt)
			}
		}
	}
	if p.Default != nil && o.whole[p] {
		o.item(p, 0, "spec.default", p.DefaultPos, "of the dataplanes", "other policies override it whole; "+removeIt)
	}
}

func (o *overridden) item(p *resource.Policy, index int, path string, pos strict.Position, what, hint string) {
	if o.counts[rules.Origin{Policy: p, Index: index}] {
		return
	}
	o.warnings = append(o.warnings, strict.Diagnostic{
		Pos: pos, Path: path, Hint: hint,
		What: fmt.Sprintf("sets nothing for any %s that %s \"%s\" selects", what, p.Kind, p.Name),
	})
}
