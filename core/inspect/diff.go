package inspect

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// Diff is the answer of `diff`: how the effective configuration of dataplanes
// changes from one view to another.
type Diff struct {
	// Groups is the dataplanes that change, those with the same change
	// together, sorted by their first dataplane.
	Groups []DiffGroup `json:"groups"`
}

// DiffGroup is dataplanes with the same change, sorted by identity.
type DiffGroup struct {
	Dataplanes []string `json:"dataplanes"` // KRIs
	Changes    []Change `json:"changes"`    // sorted by kind, place and field
}

// Change is one field of one conf.
type Change struct {
	Kind string `json:"kind"`
	// Place is the part of the dataplane: "default", "outbound ...", "route
	// ... of outbound ...", "inbound ... when ...".
	Place string `json:"place"`
	// Field is the JSON pointer of a leaf of the conf; "" where the conf as a
	// whole appears or goes.
	Field string `json:"field"`
	// Old and New are JSON values; null where the leaf is not set. The origins
	// tell who sets it.
	Old       json.RawMessage `json:"old"`
	OldOrigin *Origin         `json:"oldOrigin,omitempty"`
	New       json.RawMessage `json:"new"`
	NewOrigin *Origin         `json:"newOrigin,omitempty"`
}

// NewDiff compares the dataplanes of one mesh. A dataplane that is in one
// view only is compared with one that has no configuration.
func NewDiff(before, after *core.View, mesh string, scope core.Scope) (*Diff, error) {
	groups := map[string]*DiffGroup{}
	for _, pair := range pairs(before.Dataplanes(mesh), after.Dataplanes(mesh)) {
		changes, err := pair.changes(before, after, scope)
		if err != nil {
			return nil, err
		}
		if len(changes) == 0 {
			continue
		}
		key, err := json.Marshal(changes)
		if err != nil {
			return nil, err
		}
		group := groups[string(key)]
		if group == nil {
			group = &DiffGroup{Changes: changes}
			groups[string(key)] = group
		}
		group.Dataplanes = append(group.Dataplanes, pair.kri())
	}
	diff := &Diff{Groups: []DiffGroup{}}
	for _, group := range groups {
		diff.Groups = append(diff.Groups, *group)
	}
	slices.SortFunc(diff.Groups, func(a, b DiffGroup) int { return strings.Compare(a.Dataplanes[0], b.Dataplanes[0]) })
	return diff, nil
}

type pair struct{ before, after *resource.Dataplane }

// pairs joins two lists that are sorted by identity.
func pairs(before, after []*resource.Dataplane) []pair {
	var out []pair
	for len(before)+len(after) > 0 {
		switch {
		case len(after) == 0 || len(before) > 0 && before[0].ID.Compare(after[0].ID) < 0:
			out, before = append(out, pair{before: before[0]}), before[1:]
		case len(before) == 0 || before[0].ID.Compare(after[0].ID) > 0:
			out, after = append(out, pair{after: after[0]}), after[1:]
		default:
			out = append(out, pair{before[0], after[0]})
			before, after = before[1:], after[1:]
		}
	}
	return out
}

func (p pair) kri() string {
	if p.before != nil {
		return p.before.KRI("")
	}
	return p.after.KRI("")
}

// place is where a leaf stands: the policy kind, the part of the dataplane
// and the field.
type place struct{ kind, part, field string }

func (a place) compare(b place) int {
	return cmp.Or(strings.Compare(a.kind, b.kind), strings.Compare(a.part, b.part), strings.Compare(a.field, b.field))
}

type leaf struct {
	value  json.RawMessage
	origin *Origin
}

func (p pair) changes(before, after *core.View, scope core.Scope) ([]Change, error) {
	old, err := leavesOf(before, p.before, scope)
	if err != nil {
		return nil, err
	}
	next, err := leavesOf(after, p.after, scope)
	if err != nil {
		return nil, err
	}
	var places []place
	for at := range old {
		if !bytes.Equal(old[at].value, next[at].value) {
			places = append(places, at)
		}
	}
	for at := range next {
		if _, both := old[at]; !both {
			places = append(places, at)
		}
	}
	slices.SortFunc(places, place.compare)
	changes := make([]Change, len(places))
	for i, at := range places {
		changes[i] = Change{
			Kind: at.kind, Place: at.part, Field: at.field,
			Old: old[at].value, OldOrigin: old[at].origin, New: next[at].value, NewOrigin: next[at].origin,
		}
	}
	return changes, nil
}

// leavesOf flattens the effective configuration of a dataplane. A rule's
// place has its position, as the first match counts.
func leavesOf(view *core.View, d *resource.Dataplane, scope core.Scope) (map[place]leaf, error) {
	if d == nil {
		return nil, nil
	}
	f := flattener{leaves: map[place]leaf{}}
	for _, config := range view.Configs(d, scope) {
		f.kind = config.Kind.Name
		f.add("default", config.Default)
		for i := range config.Outbounds {
			outbound := outboundTitle(&d.Outbounds[i])
			f.add("outbound "+outbound, config.Outbounds[i].Effective)
			for _, r := range config.Outbounds[i].Routes {
				f.add("route "+r.Route.KRI()+" of outbound "+outbound, r.Effective)
			}
		}
		for i := range config.Inbounds {
			for n, r := range config.Inbounds[i].Rules {
				match, err := json.Marshal(r.Match)
				if err != nil {
					return nil, err
				}
				f.add(fmt.Sprintf("inbound %s rule %d when %s", d.Inbounds[i].SectionName(), n, match), r.Effective)
			}
		}
	}
	return f.leaves, f.err
}

func outboundTitle(o *resource.Outbound) string {
	title := o.Tags.String()
	if o.Address != "" || o.Port != 0 {
		title = fmt.Sprintf("%s:%d %s", o.Address, o.Port, title)
	}
	return title
}

// flattener collects the leaves of a dataplane's confs.
type flattener struct {
	kind   string
	leaves map[place]leaf
	err    error
}

func (f *flattener) add(part string, e *rules.Effective) {
	if e == nil || f.err != nil {
		return
	}
	data, err := json.Marshal(e.Conf)
	if err != nil {
		f.err = err
		return
	}
	var tree any
	if f.err = json.Unmarshal(data, &tree); f.err != nil {
		return
	}
	f.leaves[place{f.kind, part, ""}] = leaf{value: json.RawMessage(`{}`)}
	for pointer, o := range e.Fields() {
		value, err := json.Marshal(Lookup(tree, pointer))
		if err != nil {
			f.err = err
			return
		}
		origin := newOrigin(o)
		f.leaves[place{f.kind, part, pointer}] = leaf{value, &origin}
	}
}
