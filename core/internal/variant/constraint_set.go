package variant

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/internal/partition"
)

// A ConstraintSet contains the constraints of the variants of one resource name. They satisfy the
// rules of SPEC 9.3. It is immutable and safe for concurrent use. The zero ConstraintSet has no
// variants.
type ConstraintSet struct {
	choice   *partition.Choice
	keys     []string
	variants []Constraint // canonical
}

// NewSet returns the set of the variants' constraints, which may be in any order.
// Variants are identified by their index. The error wraps a [*KeysError], an
// [*AmbiguityError] or both (use errors.As), or is a [*partition.LimitError].
func NewSet(constraints []Constraint) (*ConstraintSet, error) {
	keys, keysError := commonKeys(constraints)
	choice, overlap, err := partition.NewChoice(predicatesOf(constraints), setLimits(len(constraints)))
	if err != nil {
		return nil, err
	}
	if overlap != nil {
		err = &AmbiguityError{overlap.First, overlap.Second, overlap.Witness}
	}
	if keysError != nil {
		err = errors.Join(keysError, err)
	}
	if err != nil {
		return nil, err
	}
	return newSet(choice, keys)
}

func newSet(choice *partition.Choice, keys []string) (*ConstraintSet, error) {
	s := &ConstraintSet{choice: choice, keys: keys, variants: make([]Constraint, len(choice.Sets()))}
	for i, set := range choice.Sets() {
		c, err := canonical(set, keys)
		if err != nil {
			return nil, fmt.Errorf("variants[%d]: %w", i, err)
		}
		s.variants[i] = c
	}
	return s, nil
}

// setLimits returns limits that allow more work for more constraints.
func setLimits(constraints int) partition.Limits {
	return partition.Limits{Rules: limits.Rules, Work: limits.Work + 4_000*constraints}
}

// Len returns the number of variants.
func (s *ConstraintSet) Len() int { return len(s.variants) }

// Keys returns the keys that each variant names, sorted.
func (s *ConstraintSet) Keys() []string { return s.keys }

// Constraint returns the canonical constraint of a variant. It is sent in this
// form, and again when the variant is removed (SPEC 9.2). It names each of the
// set's keys.
func (s *ConstraintSet) Constraint(variant int) Constraint { return s.variants[variant] }

// Short returns the constraint of a variant in short form, without the keys
// that make no difference to the variant.
func (s *ConstraintSet) Short(variant int) string {
	return Constraint{predicate: s.choice.Sets()[variant].Predicate()}.String()
}

// Choose returns the variant that accepts the parameters, or -1 and false if there is
// none: the resource then does not exist for such a client (SPEC 9.3). It reads only the
// set's keys, and does not allocate.
func (s *ConstraintSet) Choose(p Parameters) (variant int, ok bool) {
	if s.choice == nil {
		return -1, false
	}
	return s.choice.Choose(p)
}

// Uncovered returns parameters that no variant accepts, or nil if there are none. An empty
// map, unlike nil, is a result: a client without parameters.
func (s *ConstraintSet) Uncovered() Parameters {
	if s.choice == nil {
		return Parameters{}
	}
	return s.choice.Uncovered()
}

// Unsatisfiable returns the variants whose constraints accept no parameters.
// Such a variant is never chosen.
func (s *ConstraintSet) Unsatisfiable() []int {
	var variants []int
	for i := range s.variants {
		if !s.satisfiable(i) {
			variants = append(variants, i)
		}
	}
	return variants
}

func (s *ConstraintSet) satisfiable(variant int) bool {
	_, ok := s.choice.Sets()[variant].Witness()
	return ok
}

// A KeysError indicates that the variants of a set do not all name the same
// keys.
type KeysError struct {
	Variant int      // the variant that lacks keys
	Other   int      // a variant that names the first missing key
	Missing []string // sorted
}

// Error contains the variant, the keys and a way to name them.
func (e *KeysError) Error() string {
	return fmt.Sprintf("variants[%d]: %s; %s", e.Variant, e.what(), e.hint())
}

func (e *KeysError) what() string {
	noun := "key"
	if len(e.Missing) > 1 {
		noun = "keys"
	}
	return fmt.Sprintf("the constraints do not name the %s %s; variants[%d] names %s", noun, strings.Join(quoted(e.Missing), ", "), e.Other, word(e.Missing[0]))
}

func (e *KeysError) hint() string {
	return "all variants must name the same keys; one that makes no difference is or(exists, not exists)"
}

func quoted(names []string) []string {
	words := make([]string, len(names))
	for i, name := range names {
		words[i] = word(name)
	}
	return words
}

// An AmbiguityError indicates that two variants of a set accept the same
// parameters.
type AmbiguityError struct {
	First, Second int
	Parameters    Parameters // accepted by both
}

// Error contains the two variants and the parameters.
func (e *AmbiguityError) Error() string {
	return fmt.Sprintf("variants[%d]: %s; %s", e.Second, e.what(), e.hint())
}

func (e *AmbiguityError) what() string {
	return fmt.Sprintf("the constraints accept the parameters %s, and so does variants[%d]", FormatParameters(e.Parameters), e.First)
}

func (e *AmbiguityError) hint() string { return "at most one variant may accept the same parameters" }

// commonKeys returns the keys that all constraints name, or a [*KeysError] for the first
// constraint that lacks keys of another one.
func commonKeys(constraints []Constraint) ([]string, error) {
	named := make([][]string, len(constraints))
	var all []string
	for i, c := range constraints {
		named[i] = c.Keys()
		if i == 0 || !slices.Equal(named[i], named[0]) {
			all = append(all, named[i]...)
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	for i := range named {
		if len(named[i]) == len(all) {
			continue
		}
		missing := slices.DeleteFunc(slices.Clone(all), func(key string) bool { return contains(named[i], key) })
		other := slices.IndexFunc(named, func(keys []string) bool { return contains(keys, missing[0]) })
		return nil, &KeysError{i, other, missing}
	}
	return all, nil
}

func contains(sorted []string, s string) bool {
	_, found := slices.BinarySearch(sorted, s)
	return found
}
