package match

import (
	"encoding/binary"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/index"
)

// A Class is dataplanes that no selector tells apart: they have as many
// points, and each point has the same of the terms that selectors require. So
// the same policies select them, at the same inbounds.
type Class struct {
	// Number is dense among the classes that exist; a number is given out
	// again after its class was dropped.
	Number   uint32
	key      string
	points   [][]index.Term // sorted
	inbounds bool           // points are inbounds
}

// SelectClass is [Index.Select] for every dataplane of a class of this index.
func (x *Index) SelectClass(c *Class, scope Scope, b *Buffer) []Selected {
	x.begin(b)
	for point, terms := range c.points {
		x.collect(terms, point, c.inbounds, scope, b)
	}
	return x.finish(b)
}

// has reports whether some point has all of the terms.
func (c *Class) has(terms []index.Term) bool {
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

// classKey appends to key what identifies the class of a dataplane: for each
// point the number of terms and the terms, behind a byte that tells inbounds
// from what has none.
func (x *Index) classKey(d *resource.Dataplane, key []byte, b *Buffer) []byte {
	key = append(key, 0)
	if len(d.Inbounds) > 0 {
		key[len(key)-1] = 1
	}
	for point := range points(d) {
		terms := x.required(d, point, b)
		key = binary.LittleEndian.AppendUint32(key, uint32(len(terms)))
		for _, t := range terms {
			key = binary.LittleEndian.AppendUint32(key, uint32(t))
		}
	}
	return key
}

// newClass reads a class back from its key.
func newClass(key string) *Class {
	c := &Class{key: key, inbounds: key[0] == 1}
	rest := []byte(key[1:])
	next := func() uint32 {
		n := binary.LittleEndian.Uint32(rest)
		rest = rest[4:]
		return n
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
