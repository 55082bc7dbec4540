package items

import (
	"fmt"
	"strings"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// A Written is an item as a policy has it: an element of `to`, `from` or `rules`, or the single
// conf of the policy.
type Written struct {
	ItemPlace
	Section   *resource.Section
	TargetRef *resource.TargetRef // nil in `rules` and for a single conf
	Conf      resource.Conf
	Pos       diag.Position
}

// An ItemPlace is an item with its array: the first item of `to` and the first rule of a policy have
// one origin.
type ItemPlace struct {
	results.Origin
	Array string // to, from, rules, or default for the single conf of a policy
}

// WrittenItems returns the items of a policy, lowest priority first in each array.
func WrittenItems(p *resource.Policy) []Written {
	var all []Written
	add := func(section *resource.Section, array string, i int, t *resource.TargetRef, c resource.Conf, pos diag.Position) {
		all = append(all, Written{ItemPlace{results.Origin{Policy: p, Index: i}, array}, section, t, c, pos})
	}
	if p.Default != nil {
		add(p.Type.Default, "default", 0, nil, p.Default, p.DefaultPos)
	}
	for i := range p.To {
		add(p.Type.To, "to", i, &p.To[i].TargetRef, p.To[i].Conf, p.To[i].Pos)
	}
	for i := range p.From {
		add(p.Type.From, "from", i, &p.From[i].TargetRef, p.From[i].Conf, p.From[i].Pos)
	}
	for i := range p.Rules {
		add(p.Type.Rules, "rules", i, nil, p.Rules[i].Conf, p.Rules[i].Pos)
	}
	return all
}

// Field returns the position of the item at a place, and the path of a field of its conf in the
// document of the policy.
func (at ItemPlace) Field(pointer string) (pos diag.Position, path string) {
	pos, path = at.Policy.Pos, "spec."+at.Array
	for _, item := range WrittenItems(at.Policy) {
		if item.ItemPlace == at {
			pos = item.Pos
		}
	}
	if at.Array != "default" {
		path += fmt.Sprintf("[%d]", at.Index)
		if to := at.Policy.Type.To; at.Array != "to" || to == nil || !to.Inline {
			path += ".default"
		}
	}
	for part := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		switch {
		case part == "":
		case strings.Trim(part, "0123456789") == "":
			path += "[" + part + "]"
		default:
			path += "." + part
		}
	}
	return pos, path
}

// Contributions returns the items that apply to an outbound with the given tags, lowest
// priority first (see [Applies]). If route is not nil, they apply to that route of the
// outbound.
func Contributions(s semantics.Semantics, config *results.Config, tags resource.Tags, route *resource.Policy) (all []results.Contribution) {
	for _, m := range config.Matched.All() {
		for i := range m.Policy.To {
			if item := &m.Policy.To[i]; Applies(s, m.Policy, &item.TargetRef, tags, route) {
				all = append(all, results.Contribution{Origin: results.Origin{Policy: m.Policy, Index: i}, Conf: item.Conf})
			}
		}
	}
	return all
}
