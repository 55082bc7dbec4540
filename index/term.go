package index

import "slices"

// A Term is the dense id of a property that an item has or a selector requires.
// Examples are a tag pair and the presence of a tag key.
type Term uint32

// SortTerms sorts terms in place and drops duplicates. The result is the form that
// [TermIndex.Match] requires.
func SortTerms(terms []Term) []Term {
	slices.Sort(terms)
	return slices.Compact(terms)
}

// scanTerms is the length up to which comparing each term is faster than a search.
const scanTerms = 16

// hasTerm reports whether t is among the sorted terms.
func hasTerm(terms []Term, t Term) bool {
	if len(terms) > scanTerms {
		_, found := slices.BinarySearch(terms, t)
		return found
	}
	for _, u := range terms {
		if u >= t {
			return u == t
		}
	}
	return false
}
