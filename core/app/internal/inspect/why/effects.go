package why

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/internal/targets"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
)

// effects compares the configuration of a dataplane with the configuration in a mesh
// that has only a single policy of the kind.
type effects struct {
	view  *core.View
	d     *resource.Dataplane
	query Query
	// part is the place of the query: an outbound, an inbound or a listener or, if none is
	// set, the whole dataplane. at is its index; for a listener, the index for
	// [find.Point].
	part  inspect.Place
	at    int
	alone *alone
	known map[core.Scope]*setFields
}

func newEffects(ctx context.Context, view *core.View, d *resource.Dataplane, q *Query) (*effects, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	e := &effects{view: view, d: d, query: *q, known: map[core.Scope]*setFields{}}
	e.query.SetView(view, d.Mesh)
	var err error
	switch {
	case q.Outbound != "":
		if e.at, err = find.Outbound(view, d, q.Outbound); err == nil {
			config, _ := view.Config(d, q.Kind.Name, core.Enforced)
			e.part.Outbound, _ = inspect.OutboundAt(view, config, d, core.Enforced, e.at)
		}
	case q.Inbound != "":
		if e.at, err = find.Point(view, d, q.Inbound); err == nil {
			e.part = inspect.PointPlace(view, d, e.at)
		}
	case q.Listener != "":
		if e.at, err = find.Listener(view, d, q.Listener); err == nil {
			e.at += len(d.Inbounds)
			e.part = inspect.PointPlace(view, d, e.at)
		}
	}
	if err != nil {
		return nil, err
	}
	e.alone, err = newAlone(ctx, view, d, q.Kind)
	return e, err
}

// effectsFor returns the effect of a policy. It does not explain why a policy does not
// select.
func (e *effects) effectsFor(ctx context.Context, p *resource.Policy) (*Policy, error) {
	answer := &Policy{Semantics: e.view.Semantics()}
	if !e.selects(p) {
		answer.Answer = NotSelected
		return answer, nil
	}
	scope := core.Enforced
	if target := targets.TargetOn(e.view, e.d, p); target.Action == ocm.Inform {
		scope, answer.Answer, answer.Because = core.Shadow, Informs, target.Because
	}
	set, err := e.alone.fields(ctx, p)
	if err != nil {
		return nil, err
	}
	all, err := e.all(scope)
	if err != nil {
		return nil, err
	}
	answer.Fields, answer.Collectors, answer.Overridden = map[string]json.RawMessage{}, map[string]*inspect.Collector{}, map[string]inspect.Decider{}
	places := map[string]*PlaceEffect{}
	var order []string
	for i := range set.list {
		f := &set.list[i]
		if !e.isPart(f.place) || !all.has(f.place) {
			continue
		}
		key := f.group() + " " + f.item
		place := places[key]
		if place == nil {
			place = &PlaceEffect{Place: *f.place, Item: f.item, Fields: map[string]json.RawMessage{}, Collectors: map[string]*inspect.Collector{}, Overridden: map[string]inspect.Decider{}, NoEffect: map[string]string{}}
			places[key], order = place, append(order, key)
		}
		if reason := e.noEffect(all, f); reason != "" {
			place.NoEffect[f.field] = reason
		} else if by := all.overriding(f); by != nil {
			place.Overridden[f.field] = e.decider(by)
		} else {
			place.Fields[f.field] = f.value
			e.addCollectors(place, f)
		}
	}
	for _, key := range order {
		answer.add(places[key])
	}
	e.conclude(p, answer)
	return answer, errors.Join(set.err(), all.err())
}

// addCollectors adds the collectors to which references in a field lead.
func (e *effects) addCollectors(place *PlaceEffect, f *setField) {
	for pointer, collector := range e.query.Collectors(f.conf) {
		if isIn(f.field, pointer) {
			place.Collectors[pointer] = collector
		}
	}
}

// isIn reports whether a JSON pointer leads to a part of a field.
func isIn(field, pointer string) bool {
	return pointer == field || strings.HasPrefix(pointer, field+"/")
}

// add adds the fields that are set at a place.
func (a *Policy) add(place *PlaceEffect) {
	a.Places = append(a.Places, *place)
	for pointer, value := range place.Fields {
		if _, known := a.Fields[pointer]; known {
			continue
		}
		a.Fields[pointer] = value
		for reference, collector := range place.Collectors {
			if isIn(pointer, reference) {
				a.Collectors[reference] = collector
			}
		}
	}
	for pointer, by := range place.Overridden {
		if _, known := a.Overridden[pointer]; !known {
			a.Overridden[pointer] = by
		}
	}
}

// conclude sets the effect of a policy that is enforced, and the reason if it has no
// effect.
func (e *effects) conclude(p *resource.Policy, answer *Policy) {
	switch {
	case answer.Answer == Informs:
	case len(answer.Fields) > 0:
		answer.Answer = Applies
	case len(answer.Overridden) > 0:
		answer.Answer = Overridden
	default:
		answer.Answer = WithoutAny
	}
	if answer.Answer != WithoutAny {
		return
	}
	switch {
	case len(answer.Places) > 0:
		for _, place := range answer.Places {
			for _, pointer := range slices.SortedFunc(maps.Keys(place.NoEffect), inspect.ComparePointers) {
				answer.Reason = cmp.Or(answer.Reason, place.NoEffect[pointer])
			}
		}
	case e.part.Outbound != nil && len(p.To) > 0:
		answer.Answer = NotSelected
	case e.reasonOfListeners(p) != "":
		answer.Reason = e.reasonOfListeners(p)
	case len(p.To) > 0 && !e.ofPoint():
		answer.Reason = "no item selects an outbound of the dataplane"
		answer.Condition = unmetItem(e.view, p, anyOutbounds(e.view, e.d))
	case len(p.From) > 0 && e.part.Outbound == nil && e.view.Semantics().FromItems(p.Type) == semantics.FromUnread:
		answer.Reason = "`from` is not read, only rules are"
	default:
		answer.Reason = "it has no field for this part"
	}
}

// ofPoint reports whether the query is about an inbound or a listener.
func (e *effects) ofPoint() bool { return e.part.Inbound != nil || e.part.Listener != nil }

// reasonOfListeners returns the reason why a policy sets nothing for listeners, or "" if it
// has another one.
func (e *effects) reasonOfListeners(p *resource.Policy) string {
	gateway := len(e.d.GatewayListeners()) > 0
	switch {
	case len(p.Gateway) > 0 && !gateway:
		return "its `to` is for the listeners of a builtin gateway, and the dataplane has none"
	case gateway && len(p.To) > 0:
		return "only `to` items of kind Mesh apply to the listeners of a builtin gateway"
	case gateway && len(p.Rules)+len(p.From) > 0:
		return "its rules do not apply to the listeners of a builtin gateway"
	}
	return ""
}

// selects reports whether a policy selects the dataplane and, if given, the inbound of
// the query.
func (e *effects) selects(p *resource.Policy) bool {
	if !e.ofPoint() {
		return targets.Selects(e.view, e.d, p, core.Shadow, nil)
	}
	return targets.Selects(e.view, e.d, p, core.Shadow, &e.at)
}

// explainNotSelected adds the condition that fails, and a dataplane that meets it.
func (e *effects) explainNotSelected(p *resource.Policy, answer *Policy) {
	var points []int
	for point := range e.view.Semantics().Points(e.d) {
		if !e.ofPoint() || point == e.at {
			points = append(points, point)
		}
	}
	if answer.Condition = unmetTarget(e.view, e.d, p, points); answer.Condition == nil {
		if e.part.Outbound != nil {
			answer.Condition = unmetItem(e.view, p, anyOutbounds(e.view, e.d)[e.at:e.at+1])
		}
		return
	}
	selected, _ := e.view.SelectedBy(p.ID) // the view contains the policy
	if len(selected) > 0 {
		nearest := slices.MaxFunc(selected, func(a, b core.Selection) int {
			return likeness(e.d, a.Dataplane) - likeness(e.d, b.Dataplane)
		})
		answer.Nearest = &Selected{inspect.DataplaneKRI(e.view, nearest.Dataplane)}
	}
}

// likeness is the number of labels and tags that two dataplanes share. A shared namespace
// has more weight.
func likeness(a, b *resource.Dataplane) int {
	n := 0
	if a.Namespace == b.Namespace {
		n = 100
	}
	count := func(x, y resource.Tags) {
		for _, tag := range x {
			if value, has := y.Get(tag.Key); has && value == tag.Value {
				n++
			}
		}
	}
	count(a.Labels, b.Labels)
	for i := range min(len(a.Inbounds), len(b.Inbounds)) {
		count(a.Inbounds[i].Tags, b.Inbounds[i].Tags)
	}
	return n
}

// isPart reports whether a place is in the part of the query.
func (e *effects) isPart(place *inspect.Place) bool {
	switch {
	case e.part.Outbound != nil:
		return place.Outbound != nil && place.Outbound.String() == e.part.Outbound.String()
	case e.part.Inbound != nil:
		inbound := inspect.Place{Inbound: place.Inbound}
		return place.Inbound != nil && inbound.String() == e.part.String()
	case e.part.Listener != nil:
		return place.Listener != nil && *place.Listener == *e.part.Listener
	}
	return true
}

// noEffect returns the reason why the proxy does not get a field, or "" if it
// does.
func (e *effects) noEffect(all *setFields, f *setField) string {
	if reason := all.ignoring(f); reason != "" {
		return reason
	}
	if e.query.Kind.Name == permission.KindName && !e.view.PermissionsApply(e.d) {
		return permission.OpenReason
	}
	var isHere func(*inspect.NoEffect) bool
	switch {
	case f.place.Outbound != nil:
		isHere = func(n *inspect.NoEffect) bool { return n.Outbound == f.outbound }
	case f.place.Listener != nil && len(e.d.GatewayListeners()) > 0:
		return "" // proxies of builtin gateways are not configured here
	case f.place.Listener != nil && f.ignored != "":
		return f.ignored
	case f.place.Inbound != nil, f.place.Listener != nil:
		isHere = func(n *inspect.NoEffect) bool { return n.Inbound == f.inbound }
	}
	return e.query.Options.ReasonOfNoEffect(f.Origin, f.field, isHere)
}

// all returns the fields that all policies of the kind set.
func (e *effects) all(scope core.Scope) (*setFields, error) {
	if known := e.known[scope]; known != nil {
		return known, nil
	}
	config, err := e.view.Config(e.d, e.query.Kind.Name, scope)
	if err != nil {
		return nil, err
	}
	fields := newSetFields(e.view, config, e.d, scope, e.query.Limits)
	e.known[scope] = fields
	return fields, nil
}

// decider returns the item or entry that overrides a field.
func (e *effects) decider(by *overrider) inspect.Decider {
	if by.entry != nil {
		return inspect.NewDecider(by.entry, e.query.Options)
	}
	o := e.query.Origin(by.Origin, by.section)
	return inspect.Decider{KRI: o.KRI, Source: o.Source, Index: &o.Index, Item: o.Item}
}
