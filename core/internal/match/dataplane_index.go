package match

import (
	"hash/maphash"
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/enforce"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
)

// DataplaneIndex is an inverted index from facts to the dataplanes of a mesh.
// The caller assigns each dataplane a number. The index contains all facts of a
// dataplane, even if no selector requires them: when a selector begins to
// require a fact, the dataplanes with that fact change their class. It belongs
// to one writer.
//
// A fact is identified by its hash alone. If two facts have the same hash,
// [DataplaneIndex.Reached] also returns dataplanes that need no update; there is
// no other effect.
type DataplaneIndex struct {
	seed      maphash.Seed
	semantics semantics.Semantics
	postings  Postings[uint64]

	// scratch memory of Replace
	old, next      []fact
	removed, added []uint64
}

// NewDataplaneIndex returns an empty index.
func NewDataplaneIndex(s semantics.Semantics) *DataplaneIndex {
	return &DataplaneIndex{seed: maphash.MakeSeed(), semantics: s, postings: NewPostings[uint64]()}
}

// Replace replaces the dataplane old, which has the given number, by next. If old is
// nil it adds next; if next is nil it removes old. If few facts differ, the others are not hashed.
// It returns the facts that differ, each with its point, for [Index.SameClass]; they are valid
// until the next call.
func (x *DataplaneIndex) Replace(number uint32, old, next *resource.Dataplane) FactDelta {
	x.old, x.next = x.facts(x.old[:0], old), x.facts(x.next[:0], next)
	before, after := x.old, x.next
	for len(before) > 0 && len(after) > 0 && before[0] == after[0] {
		before, after = before[1:], after[1:]
	}
	first := x.next[:len(x.next)-len(after)]
	for len(before) > 0 && len(after) > 0 && before[len(before)-1] == after[len(after)-1] {
		before, after = before[:len(before)-1], after[:len(after)-1]
	}
	last := x.next[len(first)+len(after):]
	if len(before)+len(after) <= maxCompared {
		x.removed = x.keys(x.removed[:0], before, first, last)
		x.added = x.keys(x.added[:0], after, first, last)
	} else {
		x.removed, x.added = x.keys(x.removed[:0], x.old), x.keys(x.added[:0], x.next)
	}
	removed, added := x.removed, x.added
	for len(removed)+len(added) > 0 {
		switch {
		case len(added) == 0 || len(removed) > 0 && removed[0] < added[0]:
			x.postings.Remove(removed[0], number)
			removed = removed[1:]
		case len(removed) == 0 || added[0] < removed[0]:
			x.postings.Add(added[0], number)
			added = added[1:]
		default:
			removed, added = removed[1:], added[1:]
		}
	}
	return FactDelta{before, after}
}

// maxCompared is the largest number of facts that are compared with all others of a dataplane. If
// more differ, all are hashed: a dataplane with many inbounds would take the square of their number.
const maxCompared = 16

// FactDelta contains the facts that one of two versions of a dataplane has at a point where the
// other one may not have it.
type FactDelta struct{ removed, added []fact }

// facts appends the facts of a dataplane: after the start of each point its own, and then those
// of the proxy.
func (x *DataplaneIndex) facts(dst []fact, d *resource.Dataplane) []fact {
	if d == nil {
		return dst
	}
	add := func(t fact) { dst = append(dst, t) }
	for point := range x.semantics.Points(d) {
		add(fact{Space: start})
		x.semantics.PointFacts(d, point, add)
	}
	add(fact{Space: start})
	x.semantics.ProxyFacts(d, add)
	if name := enforce.ZoneOf(d); name != "" {
		add(fact{Space: zone, Value: name})
		add(fact{Space: zoned})
	}
	return dst
}

// keys appends the hashes of facts, sorted and distinct, without facts of the other lists.
func (x *DataplaneIndex) keys(dst []uint64, facts []fact, others ...[]fact) []uint64 {
	for _, t := range facts {
		isOther := func(list []fact) bool { return slices.Contains(list, t) }
		if t.Space != start && !slices.ContainsFunc(others, isOther) {
			dst = append(dst, x.key(t))
		}
	}
	slices.Sort(dst)
	return slices.Compact(dst)
}

func (x *DataplaneIndex) key(t fact) uint64 { return semantics.HashFact(x.seed, t) }

// Reached appends the numbers of the dataplanes whose class may change because of a
// change of the policies: dataplanes with a fact that selectors began or ceased to
// require. They are sorted and distinct.
func (x *DataplaneIndex) Reached(delta *Delta, dst []uint32) []uint32 {
	from := len(dst)
	for _, t := range delta.facts {
		dst = x.postings.AppendTo(x.key(t), dst)
		if t.Space == semantics.ZoneScope {
			dst = x.postings.AppendTo(x.key(fact{Space: semantics.ZoneScope, Value: semantics.AnyZone}), dst)
		}
	}
	return sortFrom(dst, from)
}

// ReachedByPlacements appends the numbers of the dataplanes whose class may change
// because they entered or left a placement. They are sorted and distinct.
// [DataplaneIndex.Reached] may return some of them too; [Classes.InPlacements]
// finds the class of the others.
func (x *DataplaneIndex) ReachedByPlacements(delta *Delta, dst []uint32) []uint32 {
	from := len(dst)
	for i := range delta.regions {
		dst = x.appendRegion(&delta.regions[i], dst)
	}
	return sortFrom(dst, from)
}

func sortFrom(numbers []uint32, from int) []uint32 {
	slices.Sort(numbers[from:])
	return numbers[:from+len(slices.Compact(numbers[from:]))]
}

// appendRegion appends the dataplanes that can be in a region: the dataplanes in its
// zones, with its rarest label or with its names, whichever are fewest.
func (x *DataplaneIndex) appendRegion(r *enforce.Region, dst []uint32) []uint32 {
	var keys []uint64
	switch {
	case r.Anywhere:
		keys = append(keys, x.key(fact{Space: semantics.ProxyType, Value: "Sidecar"}), x.key(fact{Space: semantics.ProxyType, Value: "Gateway"}))
	case r.Every:
		keys = append(keys, x.key(fact{Space: zoned}))
	default:
		for _, name := range r.Zones {
			keys = append(keys, x.key(fact{Space: zone, Value: name}))
		}
	}
	fewest := 0
	for _, key := range keys {
		fewest += x.postings.Count(key)
	}
	for _, label := range r.Labels {
		key := x.key(fact{Space: semantics.LabelPair, Key: label.Key, Value: label.Value})
		if n := x.postings.Count(key); n < fewest {
			fewest, keys = n, []uint64{key}
		}
	}
	if r.Names != nil {
		keys = x.fewer(keys, fewest, r.Names)
	}
	for _, key := range keys {
		dst = x.postings.AppendTo(key, dst)
	}
	return dst
}

// fewer returns the keys of the names if fewer than fewest dataplanes have one of them,
// otherwise the given keys.
func (x *DataplaneIndex) fewer(keys []uint64, fewest int, names []string) []uint64 {
	named, count := make([]uint64, 0, len(names)), 0
	for _, name := range names {
		key := x.key(fact{Space: semantics.Name, Value: name})
		named = append(named, key)
		count += x.postings.Count(key)
	}
	if count < fewest {
		return named
	}
	return keys
}
