package inspect

import (
	"bytes"
	"cmp"
	"encoding/json"
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
	// ... of outbound ...", "inbound ... when ...", "inbound ... order of
	// rules", "inbound ... from clients ..." or "... from any client",
	// "inbound ... permissions".
	Place string `json:"place"`
	// Field is the JSON pointer of a leaf of the conf; "" where the conf as a
	// whole appears or goes, and for an order. Of permissions it is the list
	// that has the entry.
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
	clients := &clientDiffs{known: map[fromPair][]clientsPart{}}
	for _, pair := range pairs(before.Dataplanes(mesh), after.Dataplanes(mesh)) {
		changes, err := pair.changes(before, after, scope, clients)
		if err != nil {
			return nil, err
		}
		if len(changes) == 0 {
			continue
		}
		key, err := resource.Marshal(changes)
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

func (p pair) changes(before, after *core.View, scope core.Scope, clients *clientDiffs) ([]Change, error) {
	oldConfigs, nextConfigs := configsOf(before, p.before, scope), configsOf(after, p.after, scope)
	old, err := leavesOf(oldConfigs, p.before)
	if err != nil {
		return nil, err
	}
	next, err := leavesOf(nextConfigs, p.after)
	if err != nil {
		return nil, err
	}
	ruleOrdersOf(oldConfigs, p.before).add(ruleOrdersOf(nextConfigs, p.after), old, next)
	if err := clients.add(p, oldConfigs, nextConfigs, old, next); err != nil {
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

func (a place) compare(b place) int {
	return cmp.Or(strings.Compare(a.kind, b.kind), strings.Compare(a.part, b.part),
		strings.Compare(a.entry, b.entry), ComparePointers(a.field, b.field))
}

// configsOf is what a view says about a dataplane; nothing about none.
func configsOf(view *core.View, d *resource.Dataplane, scope core.Scope) []*rules.Config {
	if d == nil {
		return nil
	}
	return view.Configs(d, scope)
}
