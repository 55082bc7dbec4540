package match

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/index"
)

// Classes is the classes that the dataplanes of a mesh are in. It belongs to
// one writer.
type Classes struct {
	byKey    map[string]*Class
	byNumber []*Class // nil: free
	free     []uint32 // numbers
	holders  holders  // by term
	key      []byte
}

// NewClasses returns no classes.
func NewClasses() *Classes {
	return &Classes{byKey: map[string]*Class{}, holders: newHolders()}
}

// Len returns the number of classes.
func (c *Classes) Len() int { return len(c.byKey) }

// Of returns the class of a dataplane over the policies of x. It makes the
// class if it is not there yet.
func (c *Classes) Of(x *Index, d *resource.Dataplane, b *Buffer) *Class {
	c.key = x.classKey(d, c.key[:0], b)
	if class := c.byKey[string(c.key)]; class != nil {
		return class
	}
	class := newClass(string(c.key))
	if n := len(c.free); n > 0 {
		class.Number, c.free = c.free[n-1], c.free[:n-1]
		c.byNumber[class.Number] = class
	} else {
		class.Number = uint32(len(c.byNumber))
		c.byNumber = append(c.byNumber, class)
	}
	c.byKey[class.key] = class
	for _, terms := range class.points {
		for _, t := range terms {
			c.holders.add(uint64(t), class.Number)
		}
	}
	return class
}

// Drop forgets a class that no dataplane is in any more.
func (c *Classes) Drop(class *Class) {
	for _, terms := range class.points {
		for _, t := range terms {
			c.holders.remove(uint64(t), class.Number)
		}
	}
	delete(c.byKey, class.key)
	c.byNumber[class.Number] = nil
	c.free = append(c.free, class.Number)
}

// Reached returns the classes whose selection a change of the policies may
// change, sorted by number. A selector's classes are found through the rarest
// of its terms and verified on the others.
func (c *Classes) Reached(delta *Delta) []*Class {
	var numbers []uint32
	for _, selector := range delta.selectors {
		if len(selector) == 0 {
			return c.all()
		}
		rarest := slices.MinFunc(selector, func(a, b index.Term) int {
			return c.holders.count(uint64(a)) - c.holders.count(uint64(b))
		})
		from := len(numbers)
		numbers = c.holders.appendTo(uint64(rarest), numbers)
		kept := slices.DeleteFunc(numbers[from:], func(n uint32) bool { return !c.byNumber[n].has(selector) })
		numbers = numbers[:from+len(kept)]
	}
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	reached := make([]*Class, len(numbers))
	for i, n := range numbers {
		reached[i] = c.byNumber[n]
	}
	return reached
}

func (c *Classes) all() []*Class {
	return slices.DeleteFunc(slices.Clone(c.byNumber), func(class *Class) bool { return class == nil })
}
