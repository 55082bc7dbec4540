package xds

import (
	"slices"
)

// sortWarnings sorts warnings and removes repeated ones.
func sortWarnings(w []Warning) []Warning {
	slices.SortFunc(w, Warning.compare)
	return slices.CompactFunc(w, func(a, b Warning) bool { return a.compare(b) == 0 })
}
