package match

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/index"
)

// Classes are the classes of the dataplanes of a mesh. They belong to one writer
// and are changed in place.
type Classes[S any] struct {
	byKey    map[string]*Class[S]
	byNumber []*Class[S]      // nil: free
	free     []uint32         // numbers
	postings Postings[uint64] // from facts to class numbers
	key      []byte
}

// NewClasses returns an empty set of classes.
func NewClasses[S any]() *Classes[S] {
	return &Classes[S]{byKey: map[string]*Class[S]{}, postings: NewPostings[uint64]()}
}

// Len returns the number of classes.
func (c *Classes[S]) Len() int { return len(c.byKey) }

// Classify returns the class of a dataplane by the policies of x. If there is no such
// class, Classify adds it with a zero State.
func (c *Classes[S]) Classify(x *Index, d *resource.Dataplane, b *Buffer) *Class[S] {
	c.key = x.classKey(d, c.key[:0], b)
	if class := c.byKey[string(c.key)]; class != nil {
		return class
	}
	return c.add(x.placementFacts(d, b))
}

// InPlacements is [Classes.Classify] for a dataplane that was in the class from.
// Since the previous version of x, only the placements that contain the
// dataplane may have changed.
func (c *Classes[S]) InPlacements(x *Index, from *Class[S], d *resource.Dataplane, b *Buffer) *Class[S] {
	placements := x.placementFacts(d, b)
	if slices.Equal(placements, from.placements) {
		return from
	}
	c.key = from.keyWith(placements, c.key[:0], b)
	if class := c.byKey[string(c.key)]; class != nil {
		return class
	}
	return c.add(placements)
}

// add adds the class whose key is in c.key.
func (c *Classes[S]) add(placements []index.Term) *Class[S] {
	class := newClass[S](string(c.key))
	class.placements = slices.Clone(placements)
	if n := len(c.free); n > 0 {
		class.number, c.free = c.free[n-1], c.free[:n-1]
		c.byNumber[class.number] = class
	} else {
		class.number = uint32(len(c.byNumber))
		c.byNumber = append(c.byNumber, class)
	}
	c.byKey[class.key] = class
	for _, terms := range class.points {
		for _, t := range terms {
			c.postings.Add(uint64(t), class.number)
		}
	}
	return class
}

// Drop removes a class, which must have no dataplanes left.
func (c *Classes[S]) Drop(class *Class[S]) {
	for _, terms := range class.points {
		for _, t := range terms {
			c.postings.Remove(uint64(t), class.number)
		}
	}
	delete(c.byKey, class.key)
	c.byNumber[class.number] = nil
	c.free = append(c.free, class.number)
}

// Reached returns the classes whose selection may change because of a change of the
// policies, in a deterministic order. For each selector, it takes the classes with
// the selector's rarest fact and checks the other facts.
func (c *Classes[S]) Reached(delta *Delta) []*Class[S] {
	var numbers []uint32
	for _, selector := range delta.selectors {
		if len(selector) == 0 {
			return c.All()
		}
		rarest := slices.MinFunc(selector, func(a, b index.Term) int {
			return c.postings.Count(uint64(a)) - c.postings.Count(uint64(b))
		})
		from := len(numbers)
		numbers = c.postings.AppendTo(uint64(rarest), numbers)
		kept := slices.DeleteFunc(numbers[from:], func(n uint32) bool { return !c.byNumber[n].has(selector) })
		numbers = numbers[:from+len(kept)]
	}
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	reached := make([]*Class[S], len(numbers))
	for i, n := range numbers {
		reached[i] = c.byNumber[n]
	}
	return reached
}

// All returns the classes.
func (c *Classes[S]) All() []*Class[S] {
	return slices.DeleteFunc(slices.Clone(c.byNumber), func(class *Class[S]) bool { return class == nil })
}
