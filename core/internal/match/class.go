package match

import (
	"encoding/binary"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
	"github.com/meshmatch/meshmatch/index"
)

// Class is a set of dataplanes that no selector distinguishes: they have the
// same number of points, and each point has the same of the terms that selectors
// require. So the same policies select them, at the same inbounds. S is what the
// writer keeps for each class.
type Class[S any] struct {
	State    S
	number   uint32 // of a class in use; reused after the class was dropped
	key      string
	points   [][]index.Term // sorted
	inbounds bool           // points are inbounds
}

// Select is [Index.Select] for every dataplane of a class of this version of the
// index.
func (c *Class[S]) Select(x *Index, scope rules.Scope, b *Buffer) []rules.Selected {
	x.begin(b)
	for point, terms := range c.points {
		x.collect(terms, point, c.inbounds, scope, b)
	}
	return x.finish(b)
}

// has reports whether some point has all of the terms.
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

// classKey appends to key what identifies the class of a dataplane: a byte that
// is 1 if its points are inbounds, and for each point the number of terms and
// the terms.
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

// newClass decodes a class from its key.
func newClass[S any](key string) *Class[S] {
	c := &Class[S]{key: key, inbounds: key[0] == 1}
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
