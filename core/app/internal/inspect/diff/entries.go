package diff

import (
	"strings"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/internal/content"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// entryDiffs compares the entries of unmerged rules. Inbounds share lists of thousands
// of entries, so each list is read once, and each pair is compared once.
type entryDiffs struct {
	before, after inspect.Options // how origins are shown
	lists         map[*results.InboundConfig]entryList
	known         map[entryPair][]entryKeyOf
}

type entryPair = twoSides[*results.InboundConfig]

// entryKeyOf identifies an entry of an inbound by its JSON and its list. The effect of
// an entry does not depend on its position in the list.
type entryKeyOf struct{ entry, field string }

// entryList contains the entries of an inbound. Of equal entries, it contains
// the first.
type entryList map[entryKeyOf]leaf

// add adds the entries that only one of two views has to the leaves of that
// view.
func (e *entryDiffs) add(d *differ, p pair, before, after []*results.Config, old, next *leaves) {
	unmerged := func(c *results.InboundConfig) *results.InboundConfig {
		if len(c.Unmerged) == 0 {
			return nil
		}
		return c
	}
	for _, in := range pairInbounds(d, p, before, after, unmerged) {
		for _, key := range e.compare(in.kind, in.twoSides) {
			at := leafKey{in.kind.Name, in.place.String() + ", permissions", key.entry, key.field}
			for _, side := range []struct {
				l *leaves
				c *results.InboundConfig
			}{{old, in.before}, {next, in.after}} {
				if entry, has := e.lists[side.c][key]; has {
					entry.place = &in.place
					side.l.at[at] = entry
				}
			}
		}
	}
}

// compare returns the entries that only one of two inbounds has.
func (e *entryDiffs) compare(kind *resource.Kind, both entryPair) []entryKeyOf {
	if both.before == both.after {
		return nil
	}
	keys, known := e.known[both]
	if !known {
		before, after := e.list(kind, both.before, e.before), e.list(kind, both.after, e.after)
		keys = differing(before, after)
		e.known[both] = keys
	}
	return keys
}

// list returns the entries of an inbound; a nil inbound has none.
func (e *entryDiffs) list(kind *resource.Kind, c *results.InboundConfig, options inspect.Options) entryList {
	if c == nil {
		return nil
	}
	list, known := e.lists[c]
	if !known {
		list = entryList{}
		for i := range c.Unmerged {
			list.add(kind, &c.Unmerged[i], options)
		}
		e.lists[c] = list
	}
	return list
}

func (list entryList) add(kind *resource.Kind, r *results.Contribution, options inspect.Options) {
	tree := content.Tree(r.Conf)
	merger := kind.Rules.Conf.NewMerger()
	merger.Fill(r.Conf, 0)
	origin := options.Origin(r.Origin, kind.Rules)
	for pointer := range merger.Leaves() {
		value := content.Encode(inspect.Lookup(tree, pointer))
		field := pointer[:strings.LastIndexByte(pointer, '/')]
		if _, ok := inspect.Lookup(tree, field).([]any); ok {
			pointer = field
		}
		key := entryKeyOf{string(value), pointer}
		if _, has := list[key]; !has {
			list[key] = leaf{value: value, origin: &origin}
		}
	}
}
