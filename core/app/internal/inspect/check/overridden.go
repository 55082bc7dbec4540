package check

import (
	"fmt"
	"slices"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/internal/ruleviews"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/internal/words"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/items"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// overriddenItems warns of items, rules and defaults that set nothing on any
// dataplane that their policy selects. It also warns of inbounds whose rule
// views exceed the limit (SPEC 5.5).
func (m *meshCheck) overriddenItems(views *ruleviews.Views) {
	o := overridden{
		meshCheck:  m,
		semantics:  m.view.Semantics(),
		views:      views,
		sets:       map[items.ItemPlace]bool{},
		applies:    map[results.Origin]bool{},
		overridden: map[*resource.Policy]bool{},
		needed:     map[items.ItemPlace]bool{},
		unresolved: map[results.Origin]bool{},
		inbounds:   map[*resource.Policy]bool{},
		outbounds:  map[*resource.Policy]bool{},
		any:        map[*resource.Policy]bool{},
		examined:   map[*results.From]bool{},
		setting:    map[target][]items.Written{},
		steps:      maxHintSteps,
		fromIsRule: map[*resource.Kind]bool{},
	}
	for _, kind := range m.view.Kinds().All() {
		o.fromIsRule[kind] = m.view.Semantics().FromItems(kind) == semantics.FromAsRules
	}
	for _, config := range m.configs {
		o.add(&config)
	}
	m.markDestinations(&o)
	m.markListeners(&o)
	destinations := m.view.Destinations(m.mesh)
	for _, p := range m.policies {
		o.index(p)
	}
	for _, p := range m.policies {
		for i := range p.To { // an item whose reference finds nothing has a warning of its own
			why, _ := m.unresolvedItem(destinations, p, &p.To[i].TargetRef)
			o.unresolved[results.Origin{Policy: p, Index: i}] = why != ""
		}
		o.policy(p)
	}
}

// overridden collects the effects of items.
type overridden struct {
	*meshCheck
	semantics semantics.Semantics
	views     *ruleviews.Views
	sets      map[items.ItemPlace]bool // items that set a leaf of some conf
	// needed are the items that set a leaf which would have another value without them, or may
	// have.
	needed     map[items.ItemPlace]bool
	applies    map[results.Origin]bool   // items of `from` that apply to an inbound
	unresolved map[results.Origin]bool   // items of `to` whose reference finds nothing
	fromIsRule map[*resource.Kind]bool   // `from` items are rules without matches (SPEC 17.1)
	overridden map[*resource.Policy]bool // what isOverridden returns
	// The policies that select an inbound, a dataplane with outbounds, and any
	// dataplane. The items of other policies are not reported.
	inbounds, outbounds, any map[*resource.Policy]bool
	examined                 map[*results.From]bool
	setting                  map[target][]items.Written // items that set a leaf
	routed                   map[*resource.Policy]bool  // an item selects an outbound; nil: not found yet
	steps                    int                        // that are left to find which items override others
}

// placeOf returns the place of an item of an array. Without rules, one of the rules is an item of
// `from` that is read as a rule.
func placeOf(o results.Origin, array string) items.ItemPlace {
	if array == inRules && len(o.Policy.Rules) == 0 {
		array = inFrom
	}
	return items.ItemPlace{Origin: o, Array: array}
}

// The arrays of items, and the single conf of a policy.
const (
	inTo      = "to"
	inFrom    = "from"
	inRules   = "rules"
	inDefault = "default"
)

func (o *overridden) policy(p *resource.Policy) {
	const removeIt = "remove it or change the order"
	for _, item := range items.WrittenItems(p) {
		switch item.Array {
		case inTo:
			if o.outbounds[p] && !o.unresolved[item.Origin] {
				o.item(item, "any outbound of the dataplanes", "no outbound is of that service, or other items override it whole; "+removeIt)
			}
		case inFrom:
			if o.inbounds[p] && o.semantics.FromItems(p.Type) != semantics.FromUnread { // ignoredFrom warns of it
				o.item(item, "any request to the inbounds", "other items override it whole, or rules replace it; "+removeIt)
			}
		case inRules:
			if o.inbounds[p] && !p.Type.Rules.Unmerged { // unmerged rules are examined entry by entry
				o.item(item, "any request to the inbounds", "other rules override it whole; "+removeIt)
			}
		case inDefault:
			if o.any[p] {
				o.item(item, "any of the dataplanes", "other policies override it whole; "+removeIt)
			}
		}
	}
}

func (o *overridden) item(item items.Written, what, hint string) {
	p := item.Policy
	field, _ := words.Item(item.Origin, item.Section)
	switch {
	case !o.sets[item.ItemPlace]:
		code := diag.SetsNothing
		if !hasFields(item) {
			hint = "it has no field: set one, or remove it"
		} else if by := o.overriding(item); len(by) > 0 {
			hint = "overridden by " + words.First(by) + "; remove it or change the order"
		}
		if o.isOverridden(p) {
			code = diag.OverriddenEverywhere
		}
		o.warn(diag.Diagnostic{
			Code: code, Pos: item.Pos, Path: "spec." + field, Hint: hint,
			What: fmt.Sprintf("sets nothing for %s that %s %q selects", what, p.Kind, p.Name),
		})
	case !o.needed[item.ItemPlace]:
		o.warn(diag.Diagnostic{
			Code: diag.EqualsOverridden, Pos: item.Pos, Path: "spec." + field, Hint: "remove it, and check again before another one is removed",
			What: fmt.Sprintf("equals what it overrides: without it, every conf is the same for %s that %s %q selects", what, p.Kind, p.Name),
		})
	}
}

// maxHintSteps limits the search for the items that override others, for all policies of a mesh: it looks
// at the policies of each dataplane for each item, and only makes a hint. 10 million take about 0.2 s.
const maxHintSteps = 10_000_000

// A target is the part of what items are for that finds most of those for the same target.
type target struct {
	section         *resource.Section
	kind            resource.TargetKind
	name, namespace string
}

func targetOf(item items.Written) target {
	at := target{section: item.Section}
	if ref := item.TargetRef; ref != nil {
		at.kind, at.name, at.namespace = ref.Kind, ref.Name, ref.Namespace
	}
	return at
}

// index adds the items of a policy that set a leaf.
func (o *overridden) index(p *resource.Policy) {
	for _, item := range items.WrittenItems(p) {
		if o.sets[item.ItemPlace] {
			at := targetOf(item)
			o.setting[at] = append(o.setting[at], item)
		}
	}
}

// overriding returns the items for the same target that have a higher priority than an item and
// set something. They are those on the first dataplane where there are any. The result is nil if there
// are none, or if the search takes too long.
func (o *overridden) overriding(item items.Written) []string {
	others := map[*resource.Policy][]items.Written{}
	for _, other := range o.setting[targetOf(item)] {
		if o.steps--; o.steps < 0 {
			return nil
		}
		if other.Origin != item.Origin && sameTarget(item, other) {
			others[other.Policy] = append(others[other.Policy], other)
		}
	}
	if len(others) == 0 {
		return nil
	}
	for i := range o.configs {
		if o.steps--; o.steps < 0 {
			return nil
		}
		if o.configs[i].Kind != item.Policy.Type {
			continue
		}
		var names []string
		found := false
		for _, m := range o.configs[i].Matched.All() {
			if o.steps--; o.steps < 0 {
				return nil
			}
			own := m.Policy == item.Policy
			if found = found || own; !found {
				continue
			}
			for _, other := range others[m.Policy] {
				if !own || other.Index > item.Index {
					field, _ := words.Item(other.Origin, other.Section)
					names = append(names, m.Policy.Qualified()+" "+field)
					o.steps -= 10
				}
			}
		}
		if found && len(names) > 0 {
			return names
		}
	}
	return nil
}

// sameTarget reports whether two items of a section are for the same outbounds, clients or
// requests.
func sameTarget(a, b items.Written) bool {
	if a.TargetRef != nil {
		return a.TargetRef.Equal(b.TargetRef)
	}
	return a.Array != inRules || matchesOf(a.Origin) == matchesOf(b.Origin)
}

// isOverridden reports whether a policy sets nothing although an item of it applies: others
// override all its fields.
func (o *overridden) isOverridden(p *resource.Policy) bool {
	is, known := o.overridden[p]
	if !known {
		all := items.WrittenItems(p)
		sets := func(item items.Written) bool { return o.sets[item.ItemPlace] }
		is = !slices.ContainsFunc(all, sets) && o.appliesAny(p) && slices.ContainsFunc(all, hasFields)
		o.overridden[p] = is
	}
	return is
}

// hasFields reports whether the conf of an item has a field.
func hasFields(item items.Written) bool {
	merger := item.Section.Conf.NewMerger()
	merger.Fill(item.Conf, 0)
	for range merger.Leaves() {
		return true
	}
	return false
}

// appliesAny reports whether an item of a policy applies anywhere. The policy selects a
// dataplane.
func (o *overridden) appliesAny(p *resource.Policy) bool {
	if p.Default != nil || len(p.Rules) > 0 && o.inbounds[p] {
		return true
	}
	for i := range p.From {
		if o.applies[results.Origin{Policy: p, Index: i}] {
			return true
		}
	}
	if o.routed == nil {
		o.findRouted()
	}
	return o.routed[p]
}

// findRouted finds the policies with an item that selects an outbound of a dataplane that they select.
func (o *overridden) findRouted() {
	o.routed = map[*resource.Policy]bool{}
	for i := range o.configs {
		config := &o.configs[i]
		for _, m := range config.Matched.All() {
			if p := m.Policy; p.Type == config.Kind && len(p.To) > 0 && !o.routed[p] && slices.ContainsFunc(config.dataplane.Outbounds, func(out resource.Outbound) bool { return p.RoutesOutbound(out.Tags) }) {
				o.routed[p] = true
			}
		}
	}
}
