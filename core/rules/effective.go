package rules

import (
	"iter"

	"github.com/meshmatch/meshmatch/core/resource"
)

// Origin is an item of a policy: of its to, from or rules array, or 0 for its
// default.
type Origin struct {
	Policy *resource.Policy
	Index  int
}

// Contribution is an item that selects something, with what it says about it.
type Contribution struct {
	Origin
	Conf resource.Conf
}

// Effective is a merged conf with its reasons (SPEC 6). A nil *Effective
// means that no item selected the thing.
type Effective struct {
	// Conf is a pointer to the kind's Conf type.
	Conf resource.Conf
	// Origins is the items that set at least one leaf of Conf, in the order
	// applied: lowest priority first.
	Origins []Origin

	merger resource.Merger // knows the leaves; not filled any more
	items  []Contribution  // what the merger's items are; may be shared
}

// Fields yields the JSON pointer of each leaf of Conf with the item that set
// it.
func (e *Effective) Fields() iter.Seq2[string, Origin] {
	return func(yield func(string, Origin) bool) {
		for pointer, item := range e.merger.Leaves() {
			if !yield(pointer, e.items[item].Origin) {
				return
			}
		}
	}
}

// Merge folds contributions, lowest priority first; nil for none. The slice
// is kept and must not be changed.
func Merge(conf resource.ConfType, items []Contribution) *Effective {
	if len(items) == 0 {
		return nil
	}
	return merge(conf, items)
}

// merge is Merge where something is selected, even if all of it is empty.
func merge(conf resource.ConfType, items []Contribution) *Effective {
	merger := conf.NewMerger()
	for i := len(items) - 1; i >= 0; i-- {
		if merger.Fill(items[i].Conf, i) {
			break
		}
	}
	return newEffective(merger, items)
}

// newEffective takes over a merger that was filled from some of the items,
// called by their index.
func newEffective(merger resource.Merger, items []Contribution) *Effective {
	e := &Effective{Conf: merger.Conf(), merger: merger, items: items}
	var buffer [8]int
	origins := merger.Origins(buffer[:0])
	e.Origins = make([]Origin, len(origins))
	for i, item := range origins {
		e.Origins[i] = items[item].Origin
	}
	return e
}
