package fuzz

import (
	"fmt"
	"slices"
)

// Explain returns what a failing comparison tells a reader: the smallest
// scenario that still fails, as YAML, and its error.
func Explain(s *Scenario, compare func(*Scenario) error) string {
	small := shrink(s, compare)
	return fmt.Sprintf("%v\n\n%s", compare(small), small.YAML())
}

// shrink leaves out documents for as long as the comparison fails.
func shrink(s *Scenario, compare func(*Scenario) error) *Scenario {
	for i := 0; i < len(s.documents); {
		smaller := *s
		smaller.documents = slices.Delete(slices.Clone(s.documents), i, i+1)
		if compare(&smaller) == nil {
			i++
			continue
		}
		s = &smaller
	}
	return s
}
