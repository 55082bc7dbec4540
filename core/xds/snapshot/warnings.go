package snapshot

import (
	"github.com/meshmatch/meshmatch/core/xds"
	"slices"
)

// sortWarnings sorts warnings and removes repeated ones.
func sortWarnings(w []xds.Warning) []xds.Warning {
	slices.SortFunc(w, xds.Warning.Compare)
	return slices.CompactFunc(w, func(a, b xds.Warning) bool { return a.Compare(b) == 0 })
}
