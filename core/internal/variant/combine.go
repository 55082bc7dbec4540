package variant

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/partition"
)

// Equals returns the constraint that requires the value for the key.
func Equals(key, value string) Constraint {
	return Constraint{predicate: partition.Equal(key, value)}
}

// Exists returns the constraint that requires the presence of the key.
func Exists(key string) Constraint {
	return Constraint{predicate: partition.Present(key)}
}

// And returns the constraint that accepts parameters if all given constraints
// do.
func And(constraints ...Constraint) Constraint {
	return Constraint{predicate: partition.And(predicatesOf(constraints)...)}
}

// Or returns the constraint that accepts parameters if at least one given constraint
// does.
func Or(constraints ...Constraint) Constraint {
	return Constraint{predicate: partition.Or(predicatesOf(constraints)...)}
}

// Not returns the constraint that accepts parameters if the given one does not.
func Not(c Constraint) Constraint {
	return Constraint{predicate: partition.Not(c.predicate)}
}

// FirstMatch returns one variant for each constraint that is the first of the list to
// accept some parameters. One more is for the parameters that no constraint accepts.
// The variants cover all parameters. It returns the same errors as [Compile].
func FirstMatch(constraints []Constraint) (*ConstraintSet, error) {
	items := predicatesOf(constraints)
	slices.Reverse(items) // later items override
	set, _, err := compile(items, lastItem{}, func(last int) int { return last }, 0)
	return set, err
}

// lastItem is the Algebra whose State is the last item that accepts the parameters, or
// noItem.
type lastItem struct{}

func (lastItem) Start() int          { return noItem }
func (lastItem) Add(_, item int) int { return item }

// Combine returns one variant for each distinct tuple of the sets' choices, and the
// tuples. A tuple contains the index of a variant of each set, or -1 if the set does
// not cover the parameters. More tuples than most are an error. It returns the same
// errors as [Compile].
func Combine(sets []*ConstraintSet, most int) (*ConstraintSet, [][]int, error) {
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
// group of each of its variants. groups is parallel to the variants of s. It returns
// the same errors as [Compile].
func (s *ConstraintSet) Group(groups []int) (*ConstraintSet, []int, error) {
	return compile(predicatesOf(s.variants), lastItem{}, func(last int) int {
		if last == noItem {
			return noItem
		}
		return groups[last]
	}, 0)
}

// Example returns parameters for which a variant is chosen, and reports whether there
// are any.
func (s *ConstraintSet) Example(variant int) (Parameters, bool) {
	return s.choice.Sets()[variant].Witness()
}
