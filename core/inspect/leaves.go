package inspect

import (
	"encoding/json"
	"fmt"
	"iter"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// place is where a leaf stands: the policy kind, the part of the dataplane
// and the field.
type place struct{ kind, part, field string }

type leaf struct {
	value  json.RawMessage
	origin *Origin // nil for a conf as a whole
}

// leaves is the effective configuration of a dataplane, flattened: all but
// what inbounds do with clients by their tags, whose places depend on what it
// is compared with; see [clientDiffs].
type leaves map[place]leaf

// leavesOf flattens what a view says about a dataplane; a nil dataplane has no
// configuration. A rule's place has its position, as the first match counts.
func leavesOf(view *core.View, d *resource.Dataplane, scope core.Scope) (leaves, error) {
	l := leaves{}
	for _, config := range configsOf(view, d, scope) {
		if err := l.config(config, d); err != nil {
			return nil, err
		}
	}
	return l, nil
}

func configsOf(view *core.View, d *resource.Dataplane, scope core.Scope) []*rules.Config {
	if d == nil {
		return nil
	}
	return view.Configs(d, scope)
}

func (l leaves) config(config *rules.Config, d *resource.Dataplane) error {
	kind := config.Kind.Name
	if err := l.effective(kind, "default", config.Default); err != nil {
		return err
	}
	for i := range config.Outbounds {
		outbound := outboundTitle(&d.Outbounds[i])
		if err := l.effective(kind, "outbound "+outbound, config.Outbounds[i].Effective); err != nil {
			return err
		}
		for _, r := range config.Outbounds[i].Routes {
			if err := l.effective(kind, "route "+r.Route.KRI()+" of outbound "+outbound, r.Effective); err != nil {
				return err
			}
		}
	}
	for i := range config.Inbounds {
		inbound := "inbound " + d.Inbounds[i].SectionName()
		for n, r := range config.Inbounds[i].Rules {
			match, err := resource.Marshal(r.Match)
			if err != nil {
				return err
			}
			if err := l.effective(kind, fmt.Sprintf("%s rule %d when %s", inbound, n, match), r.Effective); err != nil {
				return err
			}
		}
		for _, r := range config.Inbounds[i].Unmerged {
			if err := l.unmerged(config.Kind, inbound, r); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l leaves) effective(kind, part string, e *rules.Effective) error {
	if e == nil {
		return nil
	}
	return l.conf(place{kind, part, ""}, e.Conf, e.Fields())
}

// unmerged adds the entries of a rule's lists; the rule is called by its
// policy and index.
func (l leaves) unmerged(kind *resource.Kind, inbound string, r rules.Contribution) error {
	merger := kind.Rules.Conf.NewMerger()
	merger.Fill(r.Conf, 0)
	part := fmt.Sprintf("%s permissions of %s rule %d", inbound, r.Policy.KRI(), r.Index)
	return l.conf(place{kind.Name, part, ""}, r.Conf, func(yield func(string, rules.Origin) bool) {
		for pointer := range merger.Leaves() {
			if !yield(pointer, r.Origin) {
				return
			}
		}
	})
}

func (l leaves) conf(at place, c resource.Conf, fields iter.Seq2[string, rules.Origin]) error {
	data, err := resource.Marshal(c)
	if err != nil {
		return err
	}
	var tree any
	if err := json.Unmarshal(data, &tree); err != nil {
		return err
	}
	l[at] = leaf{value: json.RawMessage(`{}`)}
	for pointer, o := range fields {
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

func outboundTitle(o *resource.Outbound) string {
	title := o.Tags.String()
	if o.Address != "" || o.Port != 0 {
		title = fmt.Sprintf("%s:%d %s", o.Address, o.Port, title)
	}
	return title
}
