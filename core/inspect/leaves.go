package inspect

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// leafKey identifies a leaf of a dataplane's configuration: the policy kind, the
// place in words, the match or entry, and the field. It is the same in two
// views if it is the same leaf.
type leafKey struct{ kind, place, entry, field string }

func (a leafKey) compare(b leafKey) int {
	return cmp.Or(strings.Compare(a.kind, b.kind), strings.Compare(a.place, b.place),
		strings.Compare(a.entry, b.entry), ComparePointers(a.field, b.field))
}

type leaf struct {
	value  json.RawMessage
	origin *Origin // nil for a conf as a whole
	place  *Place
}

// leaves is the effective configuration of a dataplane, flattened, without the
// confs of `from`, whose places depend on the other view (see [clientDiffs]),
// and the order of rules (see [ruleOrders]).
type leaves struct {
	source bool // origins have file:line
	at     map[leafKey]leaf
}

// add flattens the configs of a dataplane.
func (l *leaves) add(configs []*rules.Config, d *resource.Dataplane) error {
	l.at = map[leafKey]leaf{}
	for _, config := range configs {
		if err := l.config(config, d); err != nil {
			return err
		}
	}
	return nil
}

func (l *leaves) config(config *rules.Config, d *resource.Dataplane) error {
	kind := config.Kind
	if err := l.conf(kind, kind.Default, &Place{}, config.Default); err != nil {
		return err
	}
	for i := range config.Outbounds {
		outbound := newOutboundRef(&d.Outbounds[i])
		if err := l.conf(kind, kind.To, &Place{Outbound: outbound}, config.Outbounds[i].Effective); err != nil {
			return err
		}
		for _, r := range config.Outbounds[i].Routes {
			place := &Place{Outbound: outbound, Route: r.Route.KRI(), RouteName: r.Route.Kind + " " + qualifiedName(&r.Route.Meta)}
			if err := l.conf(kind, kind.To, place, r.Effective); err != nil {
				return err
			}
		}
	}
	for i := range config.Inbounds {
		inbound := inboundPlace(d, i)
		for _, r := range firstOfMatch(config.Inbounds[i].Rules) {
			if err := l.conf(kind, kind.Rules, &Place{Inbound: inbound, Match: &r.Match}, r.Effective); err != nil {
				return err
			}
		}
		for _, r := range config.Inbounds[i].Unmerged {
			if err := l.entries(kind, &Place{Inbound: inbound}, r); err != nil {
				return err
			}
		}
	}
	return nil
}

// conf adds a merged conf of one of the kind's sections.
func (l *leaves) conf(kind *resource.Kind, section *resource.Section, place *Place, e *rules.Effective) error {
	if e == nil {
		return nil
	}
	tree, err := decoded(e.Conf)
	if err != nil {
		return err
	}
	key := leafKey{kind: kind.Name, place: place.String()}
	if place.Match != nil {
		key.entry = place.Match.Key()
	}
	l.at[key] = leaf{value: json.RawMessage(`{}`), place: place}
	for pointer, o := range e.Fields() {
		value, err := resource.Marshal(Lookup(tree, pointer))
		if err != nil {
			return err
		}
		origin := newOrigin(o, section, l.source)
		key.field = pointer
		l.at[key] = leaf{value, &origin, place}
	}
	return nil
}

// entries adds the entries of the lists of a rule that is not merged. An entry
// decides the same wherever it is in its list, so its key has no index; of
// equal entries the first one is the origin.
func (l *leaves) entries(kind *resource.Kind, place *Place, r rules.Contribution) error {
	tree, err := decoded(r.Conf)
	if err != nil {
		return err
	}
	merger := kind.Rules.Conf.NewMerger()
	merger.Fill(r.Conf, 0)
	origin := newOrigin(r.Origin, kind.Rules, l.source)
	for pointer := range merger.Leaves() {
		value, err := resource.Marshal(Lookup(tree, pointer))
		if err != nil {
			return err
		}
		list := pointer[:strings.LastIndexByte(pointer, '/')]
		if _, ok := Lookup(tree, list).([]any); ok {
			pointer = list
		}
		key := leafKey{kind.Name, place.String() + ", permissions", string(value), pointer}
		if _, known := l.at[key]; !known {
			l.at[key] = leaf{value, &origin, place}
		}
	}
	return nil
}

// decoded returns the JSON of a conf, decoded.
func decoded(c resource.Conf) (tree any, err error) {
	data, err := resource.Marshal(c)
	if err != nil {
		return nil, err
	}
	err = json.Unmarshal(data, &tree)
	return tree, err
}
