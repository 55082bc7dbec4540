package check

import (
	"fmt"
	"slices"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/internal/ruleviews"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/internal/words"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// overriddenItems warns of items, rules and defaults that set nothing on any
// dataplane that their policy selects, and of inbounds whose rule views exceed
// the limit (SPEC 5.5).
func (m *meshCheck) overriddenItems(views *ruleviews.Views) {
	o := overridden{
		meshCheck:  m,
		semantics:  m.view.Semantics(),
		views:      views,
		sets:       map[place]bool{},
		applies:    map[results.Origin]bool{},
		overridden: map[*resource.Policy]bool{},
		needed:     map[place]bool{},
		unresolved: map[results.Origin]bool{},
		inbounds:   map[*resource.Policy]bool{},
		outbounds:  map[*resource.Policy]bool{},
		any:        map[*resource.Policy]bool{},
		examined:   map[*results.From]bool{},
		setting:    map[target][]results.Origin{},
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
	sets      map[place]bool // items that set a leaf of some conf
	// needed are the items that set a leaf which would have another value without them, or may
	// have.
	needed     map[place]bool
	applies    map[results.Origin]bool   // items of `from` that apply to an inbound
	unresolved map[results.Origin]bool   // items of `to` whose reference finds nothing
	fromIsRule map[*resource.Kind]bool   // `from` items are rules without matches (SPEC 17.1)
	overridden map[*resource.Policy]bool // what isOverridden returns
	// The policies that select an inbound, a dataplane with outbounds, and any
	// dataplane. The items of other policies are not reported.
	inbounds, outbounds, any map[*resource.Policy]bool
	examined                 map[*results.From]bool
	setting                  map[target][]results.Origin // items that set a leaf
	routed                   map[*resource.Policy]bool   // an item selects an outbound; nil: not found yet
	steps                    int                         // that are left to find which items override others
}

// A place is an item with its array: the first item of `to` and the first rule of a policy have
// one origin.
type place struct {
	results.Origin
	array array
}

type array string

const (
	inTo      array = "to"
	inFrom    array = "from"
	inRules   array = "rules"
	inDefault array = "default"
)

// placeOf returns the place of an item of an array. Without rules, one of the rules is an item of
// `from` that is read as a rule.
func placeOf(o results.Origin, in array) place {
	if in == inRules && len(o.Policy.Rules) == 0 {
		in = inFrom
	}
	return place{o, in}
}

// arrayOf returns the array of a section of the kind of a policy.
func arrayOf(p *resource.Policy, section *resource.Section) array {
	switch section {
	case p.Type.To:
		return inTo
	case p.Type.From:
		return inFrom
	case p.Type.Rules:
		return inRules
	}
	return inDefault
}

func (o *overridden) policy(p *resource.Policy) {
	const removeIt = "remove it or change the order"
	kind := p.Type
	if o.outbounds[p] {
		for i := range p.To {
			if o.unresolved[results.Origin{Policy: p, Index: i}] {
				continue
			}
			o.item(results.Origin{Policy: p, Index: i}, kind.To, "any outbound of the dataplanes", "no outbound is of that service, or other items override it whole; "+removeIt)
		}
	}
	if o.inbounds[p] {
		for i := range p.From {
			if o.semantics.FromItems(kind) == semantics.FromUnread {
				break // ignoredFrom warns of it
			}
			o.item(results.Origin{Policy: p, Index: i}, kind.From, "any request to the inbounds", "other items override it whole, or rules replace it; "+removeIt)
		}
		for i := range p.Rules {
			if !kind.Rules.Unmerged { // unmerged rules are examined entry by entry
				o.item(results.Origin{Policy: p, Index: i}, kind.Rules, "any request to the inbounds", "other rules override it whole; "+removeIt)
			}
		}
	}
	if p.Default != nil && o.any[p] {
		o.item(results.Origin{Policy: p}, kind.Default, "any of the dataplanes", "other policies override it whole; "+removeIt)
	}
}

func (o *overridden) item(origin results.Origin, section *resource.Section, what, hint string) {
	field, pos := words.Item(origin, section)
	at := place{origin, arrayOf(origin.Policy, section)}
	switch {
	case !o.sets[at]:
		code := diag.SetsNothing
		if !hasFields(section.Conf, confOf(origin, section)) {
			hint = "it has no field: set one, or remove it"
		} else if by := o.overriding(origin, section); len(by) > 0 {
			hint = "overridden by " + words.First(by) + "; remove it or change the order"
		}
		if o.isOverridden(origin.Policy) {
			code = diag.OverriddenEverywhere
		}
		o.warn(diag.Diagnostic{
			Code: code, Pos: pos, Path: "spec." + field, Hint: hint,
			What: fmt.Sprintf("sets nothing for %s that %s %q selects", what, origin.Policy.Kind, origin.Policy.Name),
		})
	case !o.needed[at]:
		o.warn(diag.Diagnostic{
			Code: diag.EqualsOverridden, Pos: pos, Path: "spec." + field, Hint: "remove it, and check again before another one is removed",
			What: fmt.Sprintf("equals what it overrides: without it, every conf is the same for %s that %s %q selects", what, origin.Policy.Kind, origin.Policy.Name),
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

func targetOf(o results.Origin, section *resource.Section) target {
	at := target{section: section}
	switch p := o.Policy; section {
	case p.Type.To:
		ref := &p.To[o.Index].TargetRef
		at.kind, at.name, at.namespace = ref.Kind, ref.Name, ref.Namespace
	case p.Type.From:
		ref := &p.From[o.Index].TargetRef
		at.kind, at.name, at.namespace = ref.Kind, ref.Name, ref.Namespace
	}
	return at
}

// index adds the items of a policy that set a leaf.
func (o *overridden) index(p *resource.Policy) {
	for _, section := range []*resource.Section{p.Type.To, p.Type.From, p.Type.Rules, p.Type.Default} {
		if section == nil {
			continue
		}
		for _, item := range itemsOf(p, section) {
			if o.sets[place{item, arrayOf(p, section)}] {
				at := targetOf(item, section)
				o.setting[at] = append(o.setting[at], item)
			}
		}
	}
}

// overriding returns the items for the same target that have a higher priority than an item and
// set something. They are those on the first dataplane where there are any. The result is nil if there
// are none, or if the search takes too long.
func (o *overridden) overriding(origin results.Origin, section *resource.Section) []string {
	others := map[*resource.Policy][]results.Origin{}
	for _, other := range o.setting[targetOf(origin, section)] {
		if o.steps--; o.steps < 0 {
			return nil
		}
		if other != origin && sameTarget(origin, other, section) {
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
		if o.configs[i].Kind != origin.Policy.Type {
			continue
		}
		var names []string
		found := false
		for _, m := range o.configs[i].Matched.All() {
			if o.steps--; o.steps < 0 {
				return nil
			}
			own := m.Policy == origin.Policy
			if found = found || own; !found {
				continue
			}
			for _, other := range others[m.Policy] {
				if !own || other.Index > origin.Index {
					field, _ := words.Item(other, section)
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

// itemsOf returns the items of a section of a policy, lowest priority first.
func itemsOf(p *resource.Policy, section *resource.Section) []results.Origin {
	n := 0
	switch section {
	case p.Type.To:
		n = len(p.To)
	case p.Type.From:
		n = len(p.From)
	case p.Type.Rules:
		n = len(p.Rules)
	case p.Type.Default:
		if p.Default != nil {
			n = 1
		}
	}
	origins := make([]results.Origin, n)
	for i := range origins {
		origins[i] = results.Origin{Policy: p, Index: i}
	}
	return origins
}

// sameTarget reports whether two items of a section are for the same outbounds, clients or
// requests.
func sameTarget(a, b results.Origin, section *resource.Section) bool {
	switch kind := a.Policy.Type; section {
	case kind.To:
		return a.Policy.To[a.Index].TargetRef.Equal(&b.Policy.To[b.Index].TargetRef)
	case kind.From:
		return a.Policy.From[a.Index].TargetRef.Equal(&b.Policy.From[b.Index].TargetRef)
	case kind.Rules:
		return matchesOf(a) == matchesOf(b)
	}
	return true
}

// isOverridden reports whether a policy sets nothing although an item of it applies: others
// override all its fields.
func (o *overridden) isOverridden(p *resource.Policy) bool {
	is, known := o.overridden[p]
	if !known {
		is = !o.setsAny(p) && o.appliesAny(p) && hasAnyField(p)
		o.overridden[p] = is
	}
	return is
}

// hasAnyField reports whether a conf of a policy has a field.
func hasAnyField(p *resource.Policy) bool {
	kind := p.Type
	return p.Default != nil && hasFields(kind.Default.Conf, p.Default) ||
		slices.ContainsFunc(p.To, func(item resource.Item) bool { return hasFields(kind.To.Conf, item.Conf) }) ||
		slices.ContainsFunc(p.From, func(item resource.Item) bool { return hasFields(kind.From.Conf, item.Conf) }) ||
		slices.ContainsFunc(p.Rules, func(rule resource.Rule) bool { return hasFields(kind.Rules.Conf, rule.Conf) })
}

// hasFields reports whether a conf has a field.
func hasFields(of resource.ConfType, c resource.Conf) bool {
	merger := of.NewMerger()
	merger.Fill(c, 0)
	for range merger.Leaves() {
		return true
	}
	return false
}

// confOf returns the conf of an item of a section.
func confOf(o results.Origin, section *resource.Section) resource.Conf {
	p := o.Policy
	switch section {
	case p.Type.To:
		return p.To[o.Index].Conf
	case p.Type.From:
		return p.From[o.Index].Conf
	case p.Type.Rules:
		return p.Rules[o.Index].Conf
	}
	return p.Default
}

func (o *overridden) setsAny(p *resource.Policy) bool {
	for i := range max(len(p.To), len(p.From), len(p.Rules), 1) {
		for _, in := range []array{inTo, inFrom, inRules, inDefault} {
			if o.sets[place{results.Origin{Policy: p, Index: i}, in}] {
				return true
			}
		}
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
