package why

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/access"
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/inspect"
	"github.com/meshmatch/meshmatch/core/inspect/internal/requests"
	"github.com/meshmatch/meshmatch/core/inspect/internal/ruleviews"
	"github.com/meshmatch/meshmatch/core/inspect/internal/words"
	"github.com/meshmatch/meshmatch/core/partition"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/request"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// A setField is a field that an item sets at a place.
type setField struct {
	overrider
	place    *inspect.Place
	inbound  int                // index of the inbound or listener of the place, for [find.Point]
	outbound int                // index of the outbound of the place, in the order of answers
	selector partition.Selector // of `from`: the clients for which the item sets the field
	item     string             // such as "to[0]"
	field    string             // JSON pointer
	value    json.RawMessage
	ignored  string // why the confs of the kind do not act at the place
}

// overrider is an item of a section, or an entry of permissions.
type overrider struct {
	rules.Origin
	section *resource.Section
	entry   *permission.Place // nil: the item
}

// group identifies the conf to which a field belongs.
func (f *setField) group() string { return f.place.String() }

// same reports whether two fields of two views are the same field. An element of a
// list may have another index.
func (f *setField) same(o *setField) bool {
	return f.Policy.ID == o.Policy.ID && withoutIndexes(f.field) == withoutIndexes(o.field) && bytes.Equal(f.value, o.value)
}

// withoutIndexes returns a JSON pointer with "#" instead of the indexes of elements.
func withoutIndexes(pointer string) string {
	tokens := strings.Split(pointer, "/")
	for i, token := range tokens {
		if _, err := strconv.Atoi(token); err == nil {
			tokens[i] = "#"
		}
	}
	return strings.Join(tokens, "/")
}

// setFields contains the fields that the items of a view's policies of one kind set on a
// dataplane.
type setFields struct {
	view    *core.View
	config  *rules.Config
	points  []*rules.InboundConfig // of the inbounds, then of the listeners
	d       *resource.Dataplane
	routes  map[string]bool // the places that are routes
	list    []setField
	byGroup map[string][]int // indexes in list
	views   *ruleviews.Views
	limits  access.Limits
	decides map[int]map[entryKey]bool // of permissions, by inbound; a nil set: unknown
	errs    []error
}

// entryKey identifies an entry of permissions in any view.
type entryKey struct {
	policy resource.ID
	rule   int
	list   permission.List
	index  int
}

func keyOf(p *permission.Place) entryKey { return entryKey{p.Policy.ID, p.Rule, p.List, p.Index} }

func newSetFields(view *core.View, config *rules.Config, d *resource.Dataplane, scope core.Scope, limits partition.Limits) *setFields {
	s := &setFields{
		view: view, config: config, points: slices.Clone(config.Inbounds), d: d, routes: map[string]bool{}, byGroup: map[string][]int{}, views: ruleviews.New(limits, false),
		limits: requests.Limits(1), decides: map[int]map[entryKey]bool{},
	}
	kind := config.Kind
	s.conf(setField{place: &inspect.Place{}}, kind.Default, config.Default)
	at := 0
	for outbound, confs := range inspect.Outbounds(view, config, d, scope) {
		s.conf(setField{place: &inspect.Place{Outbound: outbound}, outbound: at}, kind.To, confs.Effective)
		for _, r := range confs.Routes {
			route := &inspect.Place{Outbound: outbound, Route: view.Semantics().KRI(r.Route.KRI(), &r.Route.Meta), RouteName: r.Route.Kind + " " + words.Qualified(&r.Route.Meta)}
			s.routes[route.String()] = true
			s.conf(setField{place: route, outbound: at}, kind.To, r.Effective)
		}
		at++
	}
	for i := range config.Inbounds {
		s.point(setField{inbound: i})
	}
	s.listeners(scope)
	return s
}

// listeners adds the fields of the listeners of a builtin gateway or a zone proxy.
func (s *setFields) listeners(scope core.Scope) {
	kind := s.config.Kind
	refs, first := inspect.ListenerPoints(s.view, s.d)
	configs := s.view.ListenerConfigs(s.d, kind.Name, scope)
	s.points = append(s.points, make([]*rules.InboundConfig, first-len(s.points))...) // the kind may have no rules
	for i, c := range configs {
		f := setField{inbound: first + i, ignored: refs[i].NoEffect(kind)}
		s.points = append(s.points, c.Inbound)
		place := inspect.PointPlace(s.view, s.d, f.inbound)
		f.place = &place
		s.conf(f, inspect.ListenerSection(kind), c.To)
		for _, host := range c.Hosts {
			of := place
			of.Hostname, f.place = host.Hostname, &of
			s.conf(f, inspect.ListenerSection(kind), host.Effective)
		}
		s.point(f)
	}
}

// point adds the fields of the rules of an inbound or a listener; f has its index.
func (s *setFields) point(f setField) {
	kind, in := s.config.Kind, s.points[f.inbound]
	whole := inspect.PointPlace(s.view, s.d, f.inbound)
	for _, r := range ruleviews.FirstOfMatch(in.Rules) {
		place := whole
		place.Match, f.place = &r.Match, &place
		s.conf(f, kind.Rules, r.Effective)
	}
	f.place = &whole
	for _, r := range in.Unmerged {
		s.entries(f, r)
	}
	s.clients(f, in.From)
}

// err joins the errors about parts that could not be examined.
func (s *setFields) err() error { return errors.Join(s.errs...) }

// add adds a field and sets its item.
func (s *setFields) add(f setField) {
	f.item, _ = words.Item(f.Origin, f.section)
	s.byGroup[f.group()] = append(s.byGroup[f.group()], len(s.list))
	s.list = append(s.list, f)
}

// decoded returns the JSON of a conf, decoded.
func (s *setFields) decoded(c resource.Conf) (tree any) {
	data, err := conf.Marshal(c)
	if err == nil {
		err = json.Unmarshal(data, &tree)
	}
	if err != nil {
		s.errs = append(s.errs, err)
	}
	return tree
}

// conf adds the fields of a merged conf of a section; f has the place.
func (s *setFields) conf(f setField, section *resource.Section, e *rules.Effective) {
	if e == nil {
		return
	}
	tree := s.decoded(e.Conf)
	f.section = section
	for pointer, origin := range e.Fields() {
		f.Origin, f.field = origin, pointer
		f.value = s.valueAt(tree, pointer)
		s.add(f)
	}
}

func (s *setFields) valueAt(tree any, pointer string) json.RawMessage {
	value, err := conf.Marshal(inspect.Lookup(tree, pointer))
	if err != nil {
		s.errs = append(s.errs, err)
	}
	return value
}

// entries adds the entries of an unmerged rule.
func (s *setFields) entries(f setField, r rules.Contribution) {
	f.section, f.Origin = s.config.Kind.Rules, r.Origin
	merger := f.section.Conf.NewMerger()
	merger.Fill(r.Conf, 0)
	tree := s.decoded(r.Conf)
	for pointer := range merger.Leaves() {
		f.field, f.value, f.entry = pointer, s.valueAt(tree, pointer), entryAt(r.Origin, pointer)
		s.add(f)
	}
}

// entryAt returns the entry of permissions at a JSON pointer such as "/deny/0", or nil if
// there is none.
func entryAt(o rules.Origin, pointer string) *permission.Place {
	name, number, _ := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
	index, err := strconv.Atoi(number)
	for _, list := range []permission.List{permission.Deny, permission.Allow, permission.AllowWithShadowDeny} {
		if err == nil && name == list.String() {
			return &permission.Place{Policy: o.Policy, KRI: o.Policy.KRI(), Rule: o.Index, List: list, Index: index}
		}
	}
	return nil
}

// clients adds the fields that `from` items set for some clients, each once.
func (s *setFields) clients(f setField, from *rules.From) {
	view, err := s.views.Of(from)
	if err != nil {
		s.errs = append(s.errs, fmt.Errorf("%s of %s of %s: %w", s.config.Kind.Name, f.place, s.d.Name, err))
		return
	}
	type itemField struct {
		rules.Origin
		field string
	}
	seen := map[itemField]bool{}
	f.section = s.config.Kind.From
	for _, r := range view {
		tree := s.decoded(r.Conf)
		f.selector = r.Selector
		for pointer, origin := range r.Fields() {
			if key := (itemField{origin, pointer}); !seen[key] {
				seen[key] = true
				f.Origin, f.field, f.value = origin, pointer, s.valueAt(tree, pointer)
				s.add(f)
			}
		}
	}
}

// has reports whether there is a place: a route may only inform.
func (s *setFields) has(place *inspect.Place) bool {
	return place.Route == "" || s.routes[place.String()]
}

// ignoring returns the reason why a field that a policy sets by itself is ignored, or
// "" if it is not.
func (s *setFields) ignoring(f *setField) string {
	if f.section != s.config.Kind.From || f.place.Inbound == nil && f.place.Listener == nil || f.place.Match != nil {
		return ""
	}
	in := s.points[f.inbound]
	switch {
	case !in.FromIgnored:
		return ""
	case len(in.Rules)+len(in.Unmerged) > 0:
		return "`from` has no effect on an inbound for which other policies have rules"
	}
	return "`from` is not read, only rules are"
}

// overriding returns the item or entry that overrides a field that a policy sets by
// itself, or nil if the field is in effect.
func (s *setFields) overriding(f *setField) *overrider {
	if f.entry != nil && s.config.Kind.Name == permission.KindName {
		return s.decidingInstead(f)
	}
	var nearest *setField
	for _, i := range s.byGroup[f.group()] {
		o := &s.list[i]
		if f.same(o) {
			return nil
		}
		if nearest == nil || sharedTokens(o.field, f.field) > sharedTokens(nearest.field, f.field) {
			nearest = o
		}
	}
	switch {
	case f.section == s.config.Kind.From && s.points[f.inbound].From != nil:
		return s.overridingClient(f)
	case nearest != nil:
		return &nearest.overrider
	}
	return s.firstRule(f)
}

// sharedTokens returns the number of leading tokens that two JSON pointers share. A
// choice such as /type is next to the fields that it drops.
func sharedTokens(a, b string) int {
	x, y := strings.Split(a, "/"), strings.Split(b, "/")
	n := 0
	for n < min(len(x), len(y)) && x[n] == y[n] {
		n++
	}
	return n
}

// firstRule returns the rule that applies to the match of a field, if it is not the rule
// of the field. A rule with additional matches is not merged with it (SPEC 7.1).
func (s *setFields) firstRule(f *setField) *overrider {
	if f.place.Match == nil {
		return nil
	}
	for at := s.config.Matched.Len() - 1; at >= 0; at-- {
		m := s.config.Matched.At(at)
		if !m.Inbounds.Has(f.inbound) {
			continue
		}
		for i := range m.Policy.Rules {
			if hasMatch(&m.Policy.Rules[i], f.place.Match) {
				return &overrider{Origin: rules.Origin{Policy: m.Policy, Index: i}, section: s.config.Kind.Rules}
			}
		}
	}
	return nil
}

// hasMatch reports whether a rule is for a match.
func hasMatch(r *resource.Rule, match *conf.Match) bool {
	if len(r.Matches) == 0 {
		return match.Empty()
	}
	return slices.ContainsFunc(r.Matches, func(m conf.Match) bool { return m.Key() == match.Key() })
}

// overridingClient returns the item that overrides a field of a `from` item for a
// client.
func (s *setFields) overridingClient(f *setField) *overrider {
	if len(s.errs) > 0 { // some fields of clients are unknown
		return nil
	}
	e := s.points[f.inbound].From.Client(exampleClient(f.selector))
	if e == nil {
		return nil
	}
	var by *overrider
	shared := 0
	for pointer, origin := range e.Fields() {
		if n := sharedTokens(pointer, f.field); n > shared {
			by, shared = &overrider{Origin: origin, section: f.section}, n
		}
	}
	return by
}

// exampleClient returns the tags of a client that a selector selects.
func exampleClient(selector partition.Selector) map[string]string {
	client := map[string]string{}
	for _, r := range selector {
		switch {
		case r.Kind == partition.Is:
			client[r.Key] = r.Value
		case r.Kind == partition.Exists && len(r.Not) > 0:
			client[r.Key] = r.Not[len(r.Not)-1] + "-" // the last value is the greatest
		case r.Kind == partition.Exists:
			client[r.Key] = "any"
		}
	}
	return client
}

// decidingInstead returns the entry that decides the requests of a field's entry, if that
// entry decides no request itself.
func (s *setFields) decidingInstead(f *setField) *overrider {
	if f.inbound >= len(s.d.Inbounds) { // the requests to an egress depend on the external service
		return nil
	}
	p := permission.ForInbound(s.config, s.d, f.inbound)
	decides, known := s.decides[f.inbound]
	if !known {
		if places, _ := requests.Deciding(p, s.limits); places != nil {
			decides = map[entryKey]bool{}
			for place := range places {
				decides[keyOf(&place)] = true
			}
		}
		s.decides[f.inbound] = decides
	}
	if decides == nil || decides[keyOf(f.entry)] {
		return nil
	}
	list := access.ListOf(p)
	for i := range list.Entries {
		entry := &list.Entries[i]
		if entry.By == nil || keyOf(entry.By) != keyOf(f.entry) {
			continue
		}
		space := &access.Space{Protocol: request.ProtocolOf(&s.d.Inbounds[f.inbound])}
		regions, err := access.Regions(space, list, access.Matching(entry.Match, entry.Tags), s.limits)
		if err != nil {
			return nil
		}
		for _, region := range regions {
			if region.By != nil {
				return &overrider{entry: region.By}
			}
		}
	}
	return nil
}
