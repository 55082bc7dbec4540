package snapshot

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/xds"
)

// sortWarnings sorts warnings and removes repeated ones.
func sortWarnings(w []xds.Warning) []xds.Warning {
	slices.SortFunc(w, xds.Warning.Compare)
	return slices.CompactFunc(w, func(a, b xds.Warning) bool { return a.Compare(b) == 0 })
}
