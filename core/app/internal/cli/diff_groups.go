package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/diff"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/lists"
)

// changedRows is a change of some places of a kind: the same fields with the same values.
type changedRows struct {
	kind   string
	what   string // what the places are
	rows   [][2]string
	places []string // in the order of the answer
	count  int      // of all places of all dataplanes
}

func (c *changedRows) key() string { return fmt.Sprint(c.kind, c.what, c.rows) }

// changedDataplanes is dataplanes with equal rows.
type changedDataplanes struct {
	names   []string
	changes []*changedRows
}

func (c *changedDataplanes) key() string {
	return strings.Join(lists.Map(c.changes, (*changedRows).key), "\n")
}

// fewEqual is the number of equal rows, or groups, that are shown one by one.
const fewEqual = 3

// mostNamed is the number of places up to which a row names some of them.
const mostNamed = 9

// changedGroups shows the changes of dataplanes. Many places with one change are one row, and so
// are many groups whose changes differ in the places alone: "108 outbounds of 9 dataplanes".
func changedGroups(p *page, groups []diff.Group) {
	for _, group := range groupsOf(p, groups) {
		p.heading(0, "%s", someOf(group.names, 5))
		for _, change := range group.changes {
			p.heading(1, "%s", change.heading(len(group.names)))
			for _, row := range change.rows {
				p.row(row[0], row[1])
			}
		}
	}
}

// groupsOf returns what is shown of groups.
func groupsOf(p *page, groups []diff.Group) []*changedDataplanes {
	all := lists.MapPointers(groups, func(g *diff.Group) *changedDataplanes {
		return &changedDataplanes{names: pick(p, g.Names, g.Dataplanes), changes: changesOf(p, g.Changes, len(g.Names))}
	})
	return joinEqual(all, (*changedDataplanes).key, (*changedDataplanes).join)
}

// joinEqual joins those with one key into the first of them, if there are more than a few.
func joinEqual[T any](all []*T, key func(*T) string, join func(one, other *T)) []*T {
	equal := map[string][]*T{}
	for _, one := range all {
		equal[key(one)] = append(equal[key(one)], one)
	}
	return slices.DeleteFunc(all, func(one *T) bool {
		like := equal[key(one)]
		switch {
		case len(like) <= fewEqual:
			return false
		case one != like[0]:
			return true
		}
		for _, other := range like[1:] {
			join(one, other)
		}
		return false
	})
}

// join adds dataplanes with equal rows.
func (c *changedDataplanes) join(o *changedDataplanes) {
	c.names = slices.Concat(c.names, o.names)
	for i, change := range o.changes {
		own := c.changes[i]
		own.count += change.count
		for _, place := range change.places {
			if !slices.Contains(own.places, place) {
				own.places = append(own.places, place)
			}
		}
	}
}

// join adds the places of an equal change of the same dataplanes.
func (c *changedRows) join(o *changedRows) {
	c.places, c.count = append(c.places, o.places...), c.count+o.count
}

// heading returns the place, or the number of places and the first of them.
func (c *changedRows) heading(dataplanes int) string {
	if len(c.places) == 1 {
		return c.kind + ", " + c.places[0]
	}
	count := diag.Count(c.count, c.what)
	if dataplanes > 1 {
		count += " of " + diag.Count(dataplanes, "dataplane")
	}
	if len(c.places) > mostNamed {
		return c.kind + ", " + count // JSON has all of them
	}
	short := lists.Map(c.places, func(place string) string { return strings.TrimPrefix(place, c.what+" ") })
	return c.kind + ", " + count + ": " + someOf(short, 3)
}

// changesOf returns the changes of a group, each with all its places.
func changesOf(p *page, changes []diff.ConfChange, dataplanes int) []*changedRows {
	var all []*changedRows
	for begin := 0; begin < len(changes); {
		end, place := begin+1, &changes[begin].Place
		for end < len(changes) && changes[end].Kind == changes[begin].Kind && changes[end].Place.String() == place.String() {
			end++
		}
		all = append(all, &changedRows{kind: changes[begin].Kind, what: whatIs(place), rows: rowsOf(p, changes[begin:end]), places: []string{place.String()}, count: dataplanes})
		begin = end
	}
	return joinEqual(all, (*changedRows).key, (*changedRows).join)
}

// rowsOf returns the fields of one place that change.
func rowsOf(p *page, changes []diff.ConfChange) [][2]string {
	var rows [][2]string
	for i := range changes {
		change := &changes[i]
		if change.Field == "" && len(changes) > 1 {
			continue // the other fields show that the conf begins or ceases to apply
		}
		rows = append(rows, [2]string{
			changedField(change),
			changeText(p, change, change.Before, change.BeforeOrigin) + " -> " + changeText(p, change, change.After, change.AfterOrigin),
		})
	}
	return rows
}

// whatIs returns the word for places like the given one.
func whatIs(place *inspect.Place) string {
	switch {
	case place.Route != "" || place.Hostname != "" || place.Selector != nil || place.Match != nil:
		return "place"
	case place.Outbound != nil:
		return "outbound"
	case place.Inbound != nil:
		return "inbound"
	case place.Listener != nil:
		return "listener"
	}
	return "place"
}
