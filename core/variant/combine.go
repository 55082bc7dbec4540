package variant

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/partition"
)

// Equals returns the constraint that the key has the value.
func Equals(key, value string) Constraint {
	return Constraint{predicate: partition.Equal(key, value)}
}

// Exists returns the constraint that the key is present.
func Exists(key string) Constraint {
	return Constraint{predicate: partition.Present(key)}
}

// And returns the constraint that all of the given ones accept the parameters.
func And(constraints ...Constraint) Constraint {
	return Constraint{predicate: partition.And(predicatesOf(constraints)...)}
}

// Or returns the constraint that at least one of the given ones accepts the parameters.
func Or(constraints ...Constraint) Constraint {
	return Constraint{predicate: partition.Or(predicatesOf(constraints)...)}
}

// Not returns the constraint that the given one does not accept the parameters.
func Not(c Constraint) Constraint {
	return Constraint{predicate: partition.Not(c.predicate)}
}

// FirstMatch returns one variant for each constraint that is the first of the list to
// accept some parameters, and one for parameters that none accepts. It also returns the
// index of the constraint for each variant, len(constraints) for the last. The variants
// cover all parameters. The error is that of [Compile].
func FirstMatch(constraints []Constraint) (*Set, []int, error) {
	items := predicatesOf(constraints)
	slices.Reverse(items) // a later item overrides
	return compile(items, lastItem{}, func(last int) int { return len(constraints) - 1 - last }, 0)
}

// lastItem is the Algebra whose State is the last item that accepts the parameters, or
// noItem.
type lastItem struct{}

func (lastItem) Start() int          { return noItem }
func (lastItem) Add(_, item int) int { return item }

// Combine returns one variant for each distinct tuple of what the sets choose, with the
// tuples: the index of a variant of each set, -1 where the set covers none of the
// parameters. More tuples than most are an error, which is that of [Compile].
func Combine(sets []*Set, most int) (*Set, [][]int, error) {
	t := newTuples(len(sets))
	var variants []int // by item
	for place, set := range sets {
		for i := range set.variants {
			t.add(set.variants[i].predicate, place)
			variants = append(variants, i)
		}
	}
	combined, states, err := compile(t.items, t, func(state int) int { return state }, most)
	if err != nil {
		return nil, nil, err
	}
	chosen := make([][]int, len(states))
	for i, state := range states {
		chosen[i] = slices.Clone(t.list[state])
		for place, item := range chosen[i] {
			if item != noItem {
				chosen[i][place] = variants[item]
			}
		}
	}
	return combined, chosen, nil
}

// Group returns the set in which the variants of each group are one variant, and the
// group of each of its variants. groups is parallel to the variants of s. The error is
// that of [Compile].
func (s *Set) Group(groups []int) (*Set, []int, error) {
	return compile(predicatesOf(s.variants), lastItem{}, func(last int) int {
		if last == noItem {
			return noItem
		}
		return groups[last]
	}, 0)
}

// Example returns parameters for which a variant is chosen, and whether there are any.
func (s *Set) Example(variant int) (Parameters, bool) {
	return s.choice.Sets()[variant].Witness()
}
