package variant

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/partition"
)

// Compile returns the minimum number of variants that give each client the merged
// contents of the fragments that accept it: one variant for each distinct content. The
// contents are parallel to the variants of the set. Contents are merged in the order of
// the fragments: mappings are merged by key, recursively; lists are concatenated; later
// values of any other type replace earlier ones. If no fragment accepts the parameters,
// the content is empty. The variants cover all parameters. Compile does not change the
// fragments; the contents may share data with them.
//
// The error is a [*partition.LimitError], or wraps [ErrConstraint] if a canonical
// constraint exceeds the limits of SPEC 9.1.
func Compile(fragments []Fragment) (*ConstraintSet, []map[string]any, error) {
	m := newContentMerger(fragments)
	set, numbers, err := compile(predicatesOf(constraintsOf(fragments)), m, m.content, 0)
	if err != nil {
		return nil, nil, err
	}
	contents := make([]map[string]any, len(numbers))
	for i, number := range numbers {
		contents[i] = m.contents[number]
	}
	return set, contents, nil
}

// compile returns one variant for each distinct content, and the contents.
// Items are in order; a later item has higher priority. The function content
// returns the content that a State represents. More variants than most are an
// error, unless most is 0.
func compile[S, C comparable](items []partition.Predicate, algebra partition.Algebra[S], content func(S) C, most int) (*ConstraintSet, []C, error) {
	limits := setLimits(len(items))
	limits.Regions = most
	p, err := partition.Build(items, algebra, limits)
	if err != nil {
		return nil, nil, err
	}
	contents, choice, err := partition.Regions(p, content)
	if err != nil {
		return nil, nil, err
	}
	set, err := newSet(choice, keysOf(choice))
	return set, contents, err
}

// keysOf returns the keys on which the choice of a variant depends, sorted.
func keysOf(choice *partition.Choice) []string {
	var keys []string
	for _, set := range choice.Sets() {
		for _, d := range set.Dependencies() {
			keys = append(keys, d.Key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}
