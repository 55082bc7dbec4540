package snapshot

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/internal/enforce"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
)

// A facet is a property of the client's dataplane that the content of a shared part
// may depend on. Few parts depend on one, so facets are not in the key of each part:
// a part is built, and the facets that the build asked for become a part of its key.
type facet uint8

const (
	zoneFacet facet = 1 << iota
	dataplaneFacet
)

// facetSet is a set of facets, as bits, and of tags. It is immutable.
type facetSet struct {
	bits facet
	tags []string // keys, sorted
}

// with returns the union of two sets.
func (s facetSet) with(o facetSet) facetSet {
	union := facetSet{bits: s.bits | o.bits, tags: s.tags}
	for _, key := range o.tags {
		if at, found := slices.BinarySearch(union.tags, key); !found {
			union.tags = slices.Insert(slices.Clone(union.tags), at, key)
		}
	}
	return union
}

// facetSetOf returns the set of the tags with the keys, in any order.
func facetSetOf(keys []string) facetSet {
	keys = slices.Sorted(slices.Values(keys))
	return facetSet{tags: slices.Compact(keys)}
}

// has reports whether a set is a part of s.
func (s facetSet) has(o facetSet) bool { return s.with(o).size() == s.size() }

// size returns the number of facets in the set.
func (s facetSet) size() int { return bits.OnesCount8(uint8(s.bits)) + len(s.tags) }

// facets are the values of a set of facets, and zero values for the others.
type facets struct {
	bits      facet
	zone      string
	dataplane *resource.Dataplane
	tags      string // keys and values
}

// client implements [xds.Facets]: it gives the draft of a part the properties of the
// dataplane that it is built for, and notes which of them were asked for.
type client struct {
	dataplane *resource.Dataplane
	reads     tagReading // of Tag
	used      facetSet
}

// again returns the client for another build.
func (c *client) again() *client { return &client{dataplane: c.dataplane, reads: c.reads} }

// A tagReading is where an affinity tag is looked up (SPEC 17.4). It precedes the keys of such
// tags in a [facetSet].
type tagReading string

const (
	readTag   tagReading = ""
	readLabel tagReading = "\x00"
	readBoth  tagReading = "\x01" // the tag, else the label
)

// tagReadingOf returns where a semantics looks up affinity tags.
func tagReadingOf(s semantics.Semantics) tagReading {
	switch s {
	case semantics.Kuma:
		return readBoth
	case semantics.Kuma3:
		return readLabel
	}
	return readTag
}

// split returns the reading and the key of an entry of a [facetSet].
func split(entry string) (tagReading, string) {
	for _, r := range []tagReading{readLabel, readBoth} {
		if key, is := strings.CutPrefix(entry, string(r)); is {
			return r, key
		}
	}
	return readTag, entry
}

// Zone returns the zone of the client's dataplane, "" if it has none (SPEC 11.3).
func (c *client) Zone() string {
	c.used.bits |= zoneFacet
	return enforce.ZoneOf(c.dataplane)
}

// Service returns the first service of the client's dataplane in the order of its
// inbounds, "" if it has none.
func (c *client) Service() string { return c.tag(resource.ServiceTag) }

// Tag returns the value of a tag of the client's dataplane: the value at the first inbound
// that has the tag, else at its gateway, "" if it has none. In Kuma 3 it is the value of a
// label, and in Kuma 2 that of a label without the tag.
func (c *client) Tag(key string) string { return c.tag(string(c.reads) + key) }

func (c *client) tag(key string) string {
	c.used = c.used.with(facetSet{tags: []string{key}})
	return tagOf(c.dataplane, key)
}

// Dataplane returns the client's dataplane. A part that asks for it is built for
// each dataplane.
func (c *client) Dataplane() *resource.Dataplane {
	c.used.bits |= dataplaneFacet
	return c.dataplane
}

// facetsOf returns the values of facets for a dataplane.
func facetsOf(d *resource.Dataplane, set facetSet) facets {
	f := facets{bits: set.bits}
	if set.bits&zoneFacet != 0 {
		f.zone = enforce.ZoneOf(d)
	}
	if set.bits&dataplaneFacet != 0 {
		f.dataplane = d
	}
	for _, key := range set.tags {
		f.tags += key + "\x00" + tagOf(d, key) + "\x00"
	}
	return f
}

// tagOf returns the first value that a dataplane has of a tag, or the value of a label, by an
// entry of a [facetSet].
func tagOf(d *resource.Dataplane, entry string) string {
	reading, key := split(entry)
	switch reading {
	case readLabel:
		return d.Labels.Value(key)
	case readBoth:
		return cmp.Or(tagOf(d, key), d.Labels.Value(key))
	}
	for i := range d.Inbounds {
		if value := d.Inbounds[i].Tags.Value(key); value != "" {
			return value
		}
	}
	if d.Gateway != nil {
		return d.Gateway.Tags.Value(key)
	}
	return ""
}
