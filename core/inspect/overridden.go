package inspect

import (
	"encoding/json"
	"fmt"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/partition"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
	"github.com/meshmatch/meshmatch/core/strict"
)

// overriddenItems warns of `from` items and rules that set nothing for any
// client or request of any inbound that their policy selects.
func overriddenItems(view *core.View, mesh string) []strict.Diagnostic {
	o := overridden{counts: map[rules.Origin]bool{}, selected: map[*resource.Policy]bool{}, seen: map[*rules.Config]bool{}}
	for _, d := range view.Dataplanes(mesh) {
		for _, shadow := range []bool{false, true} { // what either counts in, counts
			for _, config := range view.Configs(d, core.Scope{Shadow: shadow}) {
				o.config(config)
			}
		}
	}
	var warnings []strict.Diagnostic
	for _, p := range view.Policies(mesh) {
		if !o.selected[p] {
			continue
		}
		for i := range p.From {
			warnings = append(warnings, o.warning(p, i, "from", p.From[i].Pos)...)
		}
		if p.Type.Rules != nil && !p.Type.Rules.Unmerged {
			for i := range p.Rules {
				warnings = append(warnings, o.warning(p, i, "rules", p.Rules[i].Pos)...)
			}
		}
	}
	return warnings
}

type overridden struct {
	counts   map[rules.Origin]bool // items that set a leaf for somebody
	selected map[*resource.Policy]bool
	seen     map[*rules.Config]bool // configs that dataplanes share
}

func (o *overridden) config(config *rules.Config) {
	if o.seen[config] {
		return
	}
	o.seen[config] = true
	for i := range config.Inbounds {
		in := &config.Inbounds[i]
		for j := range config.Matched {
			if config.Matched[j].Inbounds.Has(i) {
				o.selected[config.Matched[j].Policy] = true
			}
		}
		o.rules(in.Rules)
		if in.From != nil {
			o.from(in.From)
		}
	}
}

// rules marks what counts: of rules with one match the first.
func (o *overridden) rules(list []rules.InboundRule) {
	matches := map[string]bool{}
	for _, r := range list {
		key, err := json.Marshal(r.Match)
		if err == nil && matches[string(key)] {
			continue
		}
		matches[string(key)] = true
		o.mark(r.Effective)
	}
}

// from marks what counts for some client. A rule view past its limit tells
// nothing, so all of its items count.
func (o *overridden) from(from *rules.From) {
	view, err := from.Ordered(partition.Limits{})
	if err != nil {
		for _, origin := range from.Origins() {
			o.counts[origin] = true
		}
	}
	for _, r := range view {
		o.mark(r.Effective)
	}
}

func (o *overridden) mark(e *rules.Effective) {
	for _, origin := range e.Origins {
		o.counts[origin] = true
	}
}

func (o *overridden) warning(p *resource.Policy, index int, array string, pos strict.Position) []strict.Diagnostic {
	if o.counts[rules.Origin{Policy: p, Index: index}] {
		return nil
	}
	return []strict.Diagnostic{{
		Pos: pos, Path: fmt.Sprintf("spec.%s[%d]", array, index),
		What: fmt.Sprintf("sets nothing for any request to the inbounds that %s \"%s\" selects", p.Kind, p.Name),
		Hint: "other items override it whole, or rules take its place; remove it or change the order",
	}}
}
