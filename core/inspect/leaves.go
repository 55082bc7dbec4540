package inspect

import (
	"encoding/json"
	"strings"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// place is where a leaf stands: the policy kind, the part of the dataplane,
// what tells parts or entries of one title apart, and the field.
type place struct{ kind, part, entry, field string }

type leaf struct {
	value  json.RawMessage
	origin *Origin // nil for a conf as a whole
}

// leaves is the effective configuration of a dataplane, flattened: all but
// what inbounds do with clients by their tags, whose places depend on what it
// is compared with (see [clientDiffs]), and the order of rules (see
// [ruleOrders]).
type leaves map[place]leaf

// leavesOf flattens what the policies say about a dataplane.
func leavesOf(configs []*rules.Config, d *resource.Dataplane) (leaves, error) {
	l := leaves{}
	for _, config := range configs {
		if err := l.config(config, d); err != nil {
			return nil, err
		}
	}
	return l, nil
}

func (l leaves) config(config *rules.Config, d *resource.Dataplane) error {
	kind := config.Kind.Name
	if err := l.effective(kind, "default", config.Default); err != nil {
		return err
	}
	for i := range config.Outbounds {
		outbound := "outbound " + newOutboundRef(&d.Outbounds[i]).String()
		if err := l.effective(kind, outbound, config.Outbounds[i].Effective); err != nil {
			return err
		}
		for _, r := range config.Outbounds[i].Routes {
			if err := l.effective(kind, "route "+r.Route.KRI()+" of "+outbound, r.Effective); err != nil {
				return err
			}
		}
	}
	for i := range config.Inbounds {
		inbound := inboundTitle(d, i)
		for _, r := range firstOfMatch(config.Inbounds[i].Rules) {
			if err := l.conf(place{kind, inbound + " when " + MatchTitle(&r.Match), r.Match.Key(), ""}, r.Effective); err != nil {
				return err
			}
		}
		for _, r := range config.Inbounds[i].Unmerged {
			if err := l.unmerged(config.Kind, inbound+" permissions", r); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l leaves) effective(kind, part string, e *rules.Effective) error {
	return l.conf(place{kind, part, "", ""}, e)
}

func (l leaves) conf(at place, e *rules.Effective) error {
	if e == nil {
		return nil
	}
	tree, err := treeOf(e.Conf)
	if err != nil {
		return err
	}
	l[at] = leaf{value: json.RawMessage(`{}`)}
	for pointer, o := range e.Fields() {
		value, err := resource.Marshal(Lookup(tree, pointer))
		if err != nil {
			return err
		}
		origin := newOrigin(o)
		at.field = pointer
		l[at] = leaf{value, &origin}
	}
	return nil
}

// unmerged adds the entries of a rule's lists. An entry is the same wherever it
// stands: it decides the same, and the first that has it tells why.
func (l leaves) unmerged(kind *resource.Kind, part string, r rules.Contribution) error {
	tree, err := treeOf(r.Conf)
	if err != nil {
		return err
	}
	merger := kind.Rules.Conf.NewMerger()
	merger.Fill(r.Conf, 0)
	origin := newOrigin(r.Origin)
	for pointer := range merger.Leaves() {
		value, err := resource.Marshal(Lookup(tree, pointer))
		if err != nil {
			return err
		}
		list := pointer[:strings.LastIndexByte(pointer, '/')]
		if _, ok := Lookup(tree, list).([]any); ok {
			pointer = list
		}
		at := place{kind.Name, part, string(value), pointer}
		if _, known := l[at]; !known {
			l[at] = leaf{value, &origin}
		}
	}
	return nil
}

// treeOf decodes what a conf is printed as.
func treeOf(c resource.Conf) (tree any, err error) {
	data, err := resource.Marshal(c)
	if err != nil {
		return nil, err
	}
	err = json.Unmarshal(data, &tree)
	return tree, err
}
