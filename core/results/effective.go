package results

import (
	"errors"
	"fmt"
	"iter"
	"reflect"

	"github.com/meshmatch/meshmatch/core/resource"
)

// Origin is an item of a policy: an index into the policy's to, from or rules
// array, or 0 for its default.
type Origin struct {
	Policy *resource.Policy
	Index  int
}

// Contribution is an item that applies, with its conf.
type Contribution struct {
	Origin
	Conf resource.Conf
}

// Effective is a merged conf with its reasons (SPEC 6). A nil *Effective means
// that no item applies. It is immutable and shared by all dataplanes with the
// same result.
type Effective struct {
	// Conf is a pointer to the kind's Conf type; see [ConfOf].
	Conf resource.Conf
	// Origins are the items that set at least one leaf of Conf, in the order of
	// application: lowest priority first.
	Origins []Origin

	merger resource.Merger // reports the leaves; no longer filled
	items  []Contribution  // the merger numbers items by their index here
}

// ErrConfType indicates that a conf is not of the requested kind.
var ErrConfType = errors.New("the conf is of another type")

// ConfOf returns the conf as a value of the kind's Conf type T, such as
// [meshtimeout.Conf]; nil if e is nil. If the conf is of another type, the error is
// an [ErrConfType].
//
// [meshtimeout.Conf]: https://pkg.go.dev/github.com/meshmatch/meshmatch/core/kind/meshtimeout#Conf
func ConfOf[T any](e *Effective) (*T, error) {
	if e == nil {
		return nil, nil
	}
	conf, ok := e.Conf.(*T)
	if !ok {
		return nil, fmt.Errorf("%w: it is a %T, not a %s", ErrConfType, e.Conf, reflect.TypeFor[*T]())
	}
	return conf, nil
}

// MustConfOf is [ConfOf] for code that only gets the confs of one kind, such as a
// translator. It panics if the conf is of another type.
func MustConfOf[T any](e *Effective) *T {
	conf, err := ConfOf[T](e)
	if err != nil {
		panic(err)
	}
	return conf
}

// Fields yields the JSON pointer of each leaf of Conf with the item that set it. A nil
// Effective has none.
func (e *Effective) Fields() iter.Seq2[string, Origin] {
	return func(yield func(string, Origin) bool) {
		if e == nil {
			return
		}
		for pointer, item := range e.merger.Leaves() {
			if !yield(pointer, e.items[item].Origin) {
				return
			}
		}
	}
}

// Items returns items from which Conf was merged, lowest priority first. Items that set no
// leaf of Conf may be missing, because dataplanes with equal results share one Effective.
// The caller must not change the slice.
func (e *Effective) Items() []Contribution { return e.items }

// Merge merges contributions, lowest priority first (SPEC 6). It returns nil if
// there are none. It retains the slice, which must not be changed afterwards.
func Merge(conf resource.ConfType, items []Contribution) *Effective {
	if len(items) == 0 {
		return nil
	}
	return merge(conf, items)
}

// merge is [Merge] for callers that have omitted items without leaves: it returns a
// non-nil result even if no items are left.
func merge(conf resource.ConfType, items []Contribution) *Effective {
	merger := conf.NewMerger()
	for i := len(items) - 1; i >= 0; i-- {
		if merger.Fill(items[i].Conf, i) {
			break
		}
	}
	e := &Effective{Conf: merger.Conf(), merger: merger, items: items}
	var buffer [8]int
	numbers := merger.Origins(buffer[:0])
	e.Origins = make([]Origin, len(numbers))
	for i, number := range numbers {
		e.Origins[i] = items[number].Origin
	}
	return e
}
