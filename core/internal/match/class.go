package match

import (
	"encoding/binary"
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/index"
)

// Class is a set of dataplanes that no selector distinguishes: they have the same
// number of points and, at each point, the same facts among those that selectors
// require. So the same policies select them, at the same inbounds. S is the data that
// the writer stores for each class.
type Class[S any] struct {
	State  S
	number uint32 // unique among classes in use; reused after the class is dropped
	key    string
	points [][]index.Term // sorted
	kind   pointKind
	// shared is [resource.Dataplane.SharedListeners]: inbounds with one listener have the policies
	// of each other.
	shared []int
	// placements are the facts of placements, sorted. Each point has all of them.
	placements []index.Term
}

// pointKind describes the points of a dataplane: one of the constants, plus the number of
// listeners of a zone proxy times zoneListener. It is the first word of the keys of
// classes, because the configs of inbounds belong to a class.
type pointKind uint32

const (
	unnamed      pointKind = iota // one point, without a name
	named                         // inbounds or listeners of a zone proxy
	listeners                     // listeners of a builtin gateway
	zoneListener pointKind = 1 << 2
	// sharing is added if inbounds share listeners. The key then has these, after their number.
	sharing pointKind = 1 << 31
)

func (x *Index) pointKind(d *resource.Dataplane) pointKind {
	zones := len(x.reading.Semantics.ZoneListeners(d))
	switch {
	case len(d.Inbounds)+zones > 0:
		return named + zoneListener*pointKind(zones)
	case len(d.GatewayListeners()) > 0:
		return listeners
	}
	return unnamed
}

// SameClass reports whether two versions of a dataplane are in one class, by their difference
// alone: no selector requires anything of it. False means that the class must be found.
func (x *Index) SameClass(old, next *resource.Dataplane, by FactDelta) bool {
	isRequired := func(t fact) bool {
		_, known := x.facts.Lookup(t)
		return known || t.Space == start || t.Space == semantics.ZoneScope
	}
	return x.overrides == 0 && !slices.ContainsFunc(by.removed, isRequired) && !slices.ContainsFunc(by.added, isRequired) &&
		x.pointKind(old) == x.pointKind(next) && slices.Equal(old.SharedListeners(), next.SharedListeners())
}

// SameButPlacements reports whether no selector distinguishes the dataplanes of two
// classes, except that they may be in different placements. Each class must belong to
// this version of the index or to the previous one.
func (c *Class[S]) SameButPlacements(o *Class[S]) bool {
	return c.kind == o.kind && slices.Equal(c.shared, o.shared) && slices.EqualFunc(c.points, o.points, func(a, b []index.Term) bool {
		return sameExcept(a, c.placements, b, o.placements)
	})
}

// sameExcept compares two sorted lists without the given sorted part of each.
func sameExcept(a, exceptA, b, exceptB []index.Term) bool {
	for {
		a, exceptA = skipCommon(a, exceptA)
		b, exceptB = skipCommon(b, exceptB)
		if len(a) == 0 || len(b) == 0 {
			return len(a) == len(b)
		}
		if a[0] != b[0] {
			return false
		}
		a, b = a[1:], b[1:]
	}
}

func skipCommon(a, b []index.Term) (restA, restB []index.Term) {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	return a, b
}

// Informs reports whether a policy only informs on the dataplanes of the class. The
// policy must have the shadow label and select these dataplanes.
func (c *Class[S]) Informs(x *Index, p *resource.Policy) bool {
	slot, _ := x.slots.Lookup(nameOf(&p.ID))
	return !x.overridden(slot, c.placements)
}

// Select is [Index.Select] for every dataplane of a class. The class must belong to
// this version of the index.
func (c *Class[S]) Select(x *Index, scope results.Scope, b *Buffer) []results.Selected {
	x.begin(b)
	for point, terms := range c.points {
		x.collect(terms, scope, b)
		if c.kind != unnamed {
			b.addPoint(point, c.shared)
		}
	}
	return x.finish(b)
}

// has reports whether some point has all of the facts.
func (c *Class[S]) has(terms []index.Term) bool {
	for _, point := range c.points {
		if containsTerms(point, terms) {
			return true
		}
	}
	return false
}

// containsTerms reports whether a sorted list contains another one.
func containsTerms(have, want []index.Term) bool {
	for _, t := range want {
		for len(have) > 0 && have[0] < t {
			have = have[1:]
		}
		if len(have) == 0 || have[0] != t {
			return false
		}
	}
	return true
}

// classKey appends to key the identity of a dataplane's class: the kind of its points,
// and for each point the number of facts and the facts.
func (x *Index) classKey(d *resource.Dataplane, key []byte, b *Buffer) []byte {
	key = appendKind(key, x.pointKind(d), d.SharedListeners())
	for point := range x.reading.Semantics.Points(d) {
		key = appendPoint(key, x.required(d, point, b))
	}
	return key
}

func appendKind(key []byte, kind pointKind, shared []int) []byte {
	if shared == nil {
		return binary.LittleEndian.AppendUint32(key, uint32(kind))
	}
	key = binary.LittleEndian.AppendUint32(key, uint32(kind|sharing))
	key = binary.LittleEndian.AppendUint32(key, uint32(len(shared)))
	for _, listener := range shared {
		key = binary.LittleEndian.AppendUint32(key, uint32(listener))
	}
	return key
}

func appendPoint(key []byte, terms []index.Term) []byte {
	key = binary.LittleEndian.AppendUint32(key, uint32(len(terms)))
	for _, t := range terms {
		key = binary.LittleEndian.AppendUint32(key, uint32(t))
	}
	return key
}

// keyWith appends to key the identity of the class with the same facts and the given
// placements.
func (c *Class[S]) keyWith(placements []index.Term, key []byte, b *Buffer) []byte {
	key = appendKind(key, c.kind, c.shared)
	for _, terms := range c.points {
		b.point = b.point[:0]
		for rest := c.placements; len(terms) > 0; terms = terms[1:] {
			if len(rest) > 0 && rest[0] == terms[0] {
				rest = rest[1:]
				continue
			}
			b.point = append(b.point, terms[0])
		}
		b.point = index.SortTerms(append(b.point, placements...))
		key = appendPoint(key, b.point)
	}
	return key
}

// newClass decodes a class from its key.
func newClass[S any](key string) *Class[S] {
	rest := []byte(key)
	next := func() uint32 {
		n := binary.LittleEndian.Uint32(rest)
		rest = rest[4:]
		return n
	}
	c := &Class[S]{key: key, kind: pointKind(next())}
	if c.kind&sharing != 0 {
		c.kind &^= sharing
		c.shared = make([]int, next())
		for i := range c.shared {
			c.shared[i] = int(next())
		}
	}
	for len(rest) > 0 {
		terms := make([]index.Term, next())
		for i := range terms {
			terms[i] = index.Term(next())
		}
		c.points = append(c.points, terms)
	}
	return c
}
