package xdstest

import (
	"fmt"
	"maps"
	"slices"

	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// Overlaps follows the responses of one delta stream, and returns what is wrong after each of them: two variants that the
// client holds accept one of its locators, or a locator lost its variant although no error came for its name. It is written
// from SPEC 9.5 and 16, as a client that keeps variants by their constraints sees them.
func Overlaps(responses []Response, t wire.Type, locators []Locator) (problems []string) {
	held := map[string]map[string]string{} // by name and constraints
	had := map[string]bool{}               // by key of a locator
	for i, r := range responses {
		if r.Type != t {
			continue
		}
		applyVariants(held, r)
		for _, l := range locators {
			var accepting []string
			for _, constraints := range slices.Sorted(maps.Keys(held[l.Name])) {
				if accepts(constraints, l.Parameters) {
					accepting = append(accepting, fmt.Sprintf("%q", held[l.Name][constraints]))
				}
			}
			_, failed := r.Errors[l.Name]
			switch {
			case len(accepting) > 1:
				problems = append(problems, fmt.Sprintf("after response %d, %d variants accept %v: %v", i, len(accepting), l, accepting))
			case len(accepting) == 0 && had[l.key()] && !failed:
				problems = append(problems, fmt.Sprintf("after response %d, no variant accepts %v", i, l))
			}
			had[l.key()] = len(accepting) > 0
		}
	}
	return problems
}

// applyVariants applies a response to what is held.
func applyVariants(held map[string]map[string]string, r Response) {
	for _, gone := range r.RemovedVariants {
		delete(held[gone.Name], gone.Constraints)
	}
	for _, x := range r.Resources {
		if !x.Located {
			continue
		}
		if held[x.Name] == nil {
			held[x.Name] = map[string]string{}
		}
		held[x.Name][x.Constraints] = x.Body
	}
}
