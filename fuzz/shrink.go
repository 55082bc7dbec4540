package fuzz

import (
	"fmt"
	"maps"
	"slices"
)

// maxTries is the maximum number of comparisons to shrink a failing scenario,
// which takes a few seconds. A scenario that needs all of its 66 inbounds takes
// about 1,800.
const maxTries = 2000

// explain returns the error and the YAML of a failing scenario. Within maxTries it
// removes all parts that the failure does not need.
func explain(s *Scenario, compare func(*Scenario) error) string {
	tries := 0
	small := shrink(s, func(s *Scenario) bool {
		if tries++; tries > maxTries {
			return false
		}
		_, err := s.Load()
		return err == nil && compare(s) != nil
	})
	return fmt.Sprintf("%v\n\n%s", compare(small), small.YAML())
}

// shrink removes documents, and then parts of them, as long as the scenario still
// fails.
func shrink(s *Scenario, fails func(*Scenario) bool) *Scenario {
	failsWith := func(documents []map[string]any) bool { return fails(s.with(documents)) }
	documents, _ := without(s.documents, failsWith)
	for i := range documents {
		for smaller := true; smaller; {
			documents, smaller = shrinkDocument(documents, i, failsWith)
		}
	}
	return s.with(documents)
}

// with returns the scenario with other documents.
func (s *Scenario) with(documents []map[string]any) *Scenario {
	other := *s
	other.documents = documents
	return &other
}

// shrinkDocument removes the first part that the failure does not need.
func shrinkDocument(documents []map[string]any, i int, fails func([]map[string]any) bool) ([]map[string]any, bool) {
	for _, document := range removals(documents[i]) {
		smaller := slices.Clone(documents)
		smaller[i] = document.(map[string]any)
		if fails(smaller) {
			return smaller, true
		}
	}
	return documents, false
}

// removals returns all trees that lack one part of the given tree, large parts first. It
// does not change the given tree.
func removals(tree any) []any {
	var smaller []any
	switch tree := tree.(type) {
	case map[string]any:
		keys := slices.Sorted(maps.Keys(tree))
		for _, key := range keys {
			without := maps.Clone(tree)
			delete(without, key)
			smaller = append(smaller, without)
		}
		for _, key := range keys {
			for _, part := range removals(tree[key]) {
				with := maps.Clone(tree)
				with[key] = part
				smaller = append(smaller, with)
			}
		}
	case []any:
		for size := len(tree) / 2; size > 0; size /= 2 { // never the whole list: an empty list differs from an absent one
			for i := 0; i < len(tree); i += size {
				smaller = append(smaller, slices.Delete(slices.Clone(tree), i, min(i+size, len(tree))))
			}
		}
		for i := range tree {
			for _, part := range removals(tree[i]) {
				with := slices.Clone(tree)
				with[i] = part
				smaller = append(smaller, with)
			}
		}
	}
	return smaller
}
