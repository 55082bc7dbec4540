package diff

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/internal/ruleviews"
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
	origin *inspect.ItemRef // nil for a conf as a whole
	place  *inspect.Place
}

// leaves is the effective configuration of a dataplane: its confs by place, and what of them
// differs from the other view. What depends on the other view is added later: the confs of
// `from` ([clientDiffs]), the entries of unmerged rules ([entryDiffs]), and the order of rules
// ([ruleOrders]).
type leaves struct {
	flats *flats
	side  side
	// moves reports that the dataplane is a transparent proxy, whose outbounds are at the
	// virtual addresses of their destinations.
	moves bool
	confs map[leafKey]placedConf // without fields
	at    map[leafKey]leaf
}

// placedConf is a conf at one of its places.
type placedConf struct {
	*flatConf
	place *inspect.Place
}

// newLeaves returns the confs of a dataplane of a side. It leaves out the outbounds that are
// known to be equal in both.
func newLeaves(s side, configs []*results.Config, d *resource.Dataplane, flats *flats, equal equalOutbounds) *leaves {
	l := &leaves{flats: flats, side: s, moves: semantics.IsTransparent(d), confs: map[leafKey]placedConf{}, at: map[leafKey]leaf{}}
	for _, config := range configs {
		l.config(s, config, d, equal[config.Kind])
	}
	return l
}

func (l *leaves) config(s side, config *results.Config, d *resource.Dataplane, equal []bool) {
	kind := config.Kind
	l.conf(kind, kind.Default, &inspect.Place{}, config.Default)
	outbounds := s.outbounds(config, d)
	for i := range outbounds {
		if i < len(equal) && equal[i] {
			continue
		}
		outbound, confs := inspect.NewOutboundRef(s.view, &outbounds[i]), &outbounds[i].OutboundConfig
		l.conf(kind, kind.To, &inspect.Place{Outbound: outbound}, confs.Effective)
		for _, r := range confs.Routes {
			place := &inspect.Place{Outbound: outbound, Route: l.flats.options.PolicyKRI(r.Route), RouteName: r.Route.Kind + " " + r.Route.Qualified()}
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
	key := leafKey{kind: kind.Name, place: l.placeKey(place)}
	if place.Match != nil {
		key.entry = place.Match.Key()
	}
	l.confs[key] = placedConf{l.flats.flatConfOf(section, e), place}
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
