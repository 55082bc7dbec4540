package diff

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/internal/ruleviews"
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// leafKey identifies a leaf of a dataplane's configuration: the policy kind, the
// place in words, the match or entry, and the field. The same leaf has the same
// key in two views.
type leafKey struct{ kind, place, entry, field string }

func (a leafKey) compare(b leafKey) int {
	return cmp.Or(strings.Compare(a.kind, b.kind), strings.Compare(a.place, b.place),
		strings.Compare(a.entry, b.entry), inspect.ComparePointers(a.field, b.field))
}

// CollectorField follows the JSON pointer of a reference to a collector in the field of a
// change. Its value is the collector, or null if the reference finds none.
const CollectorField = "/collector"

type leaf struct {
	value  json.RawMessage
	origin *inspect.Origin // nil for a conf as a whole
	place  *inspect.Place
}

// leaves is the flattened effective configuration of a dataplane. The parts that
// depend on the other view are added later: the confs of `from` ([clientDiffs]), the
// entries of unmerged rules ([entryDiffs]), and the order of rules ([ruleOrders]).
type leaves struct {
	options inspect.Options // how origins are shown
	side    side
	mesh    string
	// moves reports that the dataplane is a transparent proxy, whose outbounds are at the
	// virtual addresses of their destinations.
	moves bool
	at    map[leafKey]leaf
	err   error // the first error; if not nil, the leaves are incomplete
}

// newLeaves flattens the configs of a dataplane of a side.
func newLeaves(s side, configs []*results.Config, d *resource.Dataplane, source bool) *leaves {
	l := &leaves{options: inspect.Options{Source: source, Semantics: s.view.Semantics()}, side: s, mesh: d.Mesh, moves: semantics.IsTransparent(d), at: map[leafKey]leaf{}}
	for _, config := range configs {
		l.config(s, config, d)
	}
	return l
}

func (l *leaves) config(s side, config *results.Config, d *resource.Dataplane) {
	kind := config.Kind
	l.conf(kind, kind.Default, &inspect.Place{}, config.Default)
	for outbound, confs := range inspect.Outbounds(s.view, config, d, s.scope) {
		l.conf(kind, kind.To, &inspect.Place{Outbound: outbound}, confs.Effective)
		for _, r := range confs.Routes {
			place := &inspect.Place{Outbound: outbound, Route: l.options.PolicyKRI(r.Route), RouteName: r.Route.Kind + " " + r.Route.Qualified()}
			l.conf(kind, kind.To, place, r.Effective)
		}
	}
	for place, c := range s.points(config, d) {
		for _, r := range ruleviews.FirstOfMatch(c.Rules) {
			of := place
			of.Match = &r.Match
			l.conf(kind, kind.Rules, &of, r.Effective)
		}
	}
	for i, c := range s.view.ListenerConfigs(d, kind.Name, s.scope) {
		place := inspect.PointPlace(s.view, d, len(d.Inbounds)+i)
		l.conf(kind, inspect.ListenerSection(kind), &place, c.To)
		for _, host := range c.Hosts {
			of := place
			of.Hostname = host.Hostname
			l.conf(kind, inspect.ListenerSection(kind), &of, host.Effective)
		}
	}
}

// conf adds a merged conf of one of the kind's sections.
func (l *leaves) conf(kind *resource.Kind, section *resource.Section, place *inspect.Place, e *results.Effective) {
	if e == nil {
		return
	}
	tree := l.decoded(e.Conf)
	key := leafKey{kind: kind.Name, place: l.placeKey(place)}
	if place.Match != nil {
		key.entry = place.Match.Key()
	}
	l.at[key] = leaf{value: json.RawMessage(`{}`), place: place}
	for pointer, o := range e.Fields() {
		origin := l.options.Origin(o, section)
		key.field = pointer
		l.at[key] = leaf{l.encoded(inspect.Lookup(tree, pointer)), &origin, place}
	}
	for pointer, c := range inspect.CollectorsOf(l.side.view, l.mesh, e.Conf) {
		key.field = pointer + CollectorField
		l.at[key] = leaf{l.encoded(c), nil, place}
	}
}

// placeKey identifies a place in two views. Another virtual address of a destination is a
// change of the destination, and not of the confs of its outbounds.
func (l *leaves) placeKey(place *inspect.Place) string {
	if !l.moves || place.Outbound == nil || place.Outbound.Destination == "" {
		return place.String()
	}
	of, outbound := *place, *place.Outbound
	if outbound.Address = ""; outbound.Name != "" {
		outbound.Port = 0
	}
	of.Outbound = &outbound
	return of.String()
}

// decoded returns the JSON of a conf, decoded.
func (l *leaves) decoded(c resource.Conf) (tree any) {
	if err := json.Unmarshal(l.encoded(c), &tree); err != nil {
		l.err = cmp.Or(l.err, err)
	}
	return tree
}

func (l *leaves) encoded(value any) []byte {
	data, err := conf.Marshal(value)
	l.err = cmp.Or(l.err, err)
	return data
}
