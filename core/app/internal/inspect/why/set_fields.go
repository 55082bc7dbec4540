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
	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/internal/requests"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/internal/ruleviews"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/internal/words"
	"github.com/meshmatch/meshmatch/core/internal/access"
	"github.com/meshmatch/meshmatch/core/internal/content"
	"github.com/meshmatch/meshmatch/core/internal/partition"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
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
	conf     resource.Conf // that has the field
	ignored  string        // why the confs of the kind do not act at the place
}

// overrider is an item of a section, or an entry of permissions.
type overrider struct {
	results.Origin
	section *resource.Section
	entry   *permission.Place // nil: the item
}

// group identifies the conf to which a field belongs.
func (f *setField) group() string { return f.place.String() }

// same reports whether two fields of two views are the same field. An element of a
// list may have another index.
func (f *setField) same(o *setField) bool {
	return f.Policy.ID == o.Policy.ID && words.WithoutIndexes(f.field) == words.WithoutIndexes(o.field) && bytes.Equal(f.value, o.value)
}

// setFields contains the fields that the items of a view's policies of one kind set on a
// dataplane.
type setFields struct {
	view    *core.View
	config  *results.Config
	points  []*results.InboundConfig // of the inbounds, then of the listeners
	d       *resource.Dataplane
	routes  map[string]bool // the places that are routes
	list    []setField
	byGroup map[string][]int // indexes in list
	views   *ruleviews.Views
	limits  access.Limits
	decides map[int]map[entryKey]bool // of permissions, by inbound; a nil set: unknown
	errs    []error
}

func newSetFields(view *core.View, config *results.Config, d *resource.Dataplane, scope core.Scope, limits partition.Limits) *setFields {
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
			route := &inspect.Place{Outbound: outbound, Route: view.Semantics().KRI(r.Route.KRI(), &r.Route.Meta), RouteName: r.Route.Kind + " " + r.Route.Qualified()}
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
	s.points = append(s.points, make([]*results.InboundConfig, first-len(s.points))...) // the kind may have no rules
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

// conf adds the fields of a merged conf of a section; f has the place.
func (s *setFields) conf(f setField, section *resource.Section, e *results.Effective) {
	if e == nil {
		return
	}
	tree := content.Tree(e.Conf)
	f.section = section
	for pointer, origin := range e.Fields() {
		f.Origin, f.field, f.conf = origin, pointer, e.Conf
		f.value = content.Encode(inspect.Lookup(tree, pointer))
		s.add(f)
	}
}

// entries adds the entries of an unmerged rule.
func (s *setFields) entries(f setField, r results.Contribution) {
	f.section, f.Origin = s.config.Kind.Rules, r.Origin
	merger := f.section.Conf.NewMerger()
	merger.Fill(r.Conf, 0)
	tree := content.Tree(r.Conf)
	for pointer := range merger.Leaves() {
		f.field, f.value, f.entry = pointer, content.Encode(inspect.Lookup(tree, pointer)), entryAt(r.Origin, pointer)
		s.add(f)
	}
}

// entryAt returns the entry of permissions at a JSON pointer such as "/deny/0", or nil if
// there is none.
func entryAt(o results.Origin, pointer string) *permission.Place {
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
func (s *setFields) clients(f setField, from *results.From) {
	view, err := s.views.RulesOf(from)
	if err != nil {
		s.errs = append(s.errs, fmt.Errorf("%s of %s of %s: %w", s.config.Kind.Name, f.place, s.d.Name, err))
		return
	}
	type itemField struct {
		results.Origin
		field string
	}
	seen := map[itemField]bool{}
	f.section = s.config.Kind.From
	for _, r := range view {
		tree := content.Tree(r.Conf)
		f.selector = r.Selector
		for pointer, origin := range r.Fields() {
			if key := (itemField{origin, pointer}); !seen[key] {
				seen[key] = true
				f.Origin, f.field, f.value, f.conf = origin, pointer, content.Encode(inspect.Lookup(tree, pointer)), r.Conf
				s.add(f)
			}
		}
	}
}

// has reports whether there is a place: a route may only inform.
func (s *setFields) has(place *inspect.Place) bool {
	return place.Route == "" || s.routes[place.String()]
}
