package core

import (
	"cmp"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/internal/mesh"
	"github.com/meshmatch/meshmatch/core/internal/sorted"
)

// Compare returns what changed for dataplanes from one view to another, sorted by
// mesh, action and first identity. The result depends on the content of the views
// alone, not on the commits between them. A dataplane is in one change at most.
// What changes no conf, no origin and no content of the dataplane's resource is
// left out; so are positions in files.
//
// A MeshIdentity or MeshTrust is no part of a configuration, so what it changes,
// such as the SPIFFE IDs of dataplanes, is in no change: compare what
// [View.Identities] and [View.Trusts] return for both views, which is shared until it
// changes.
//
// Comparing two views of one engine costs what differs between them, however many
// commits lie between; comparing other views visits every dataplane.
func Compare(before, after *View) []Change {
	var changes []Change
	byName := func(a, b *mesh.State) int { return strings.Compare(a.Name(), b.Name()) }
	for a, b := range sorted.Join(before.meshes, after.meshes, byName) {
		if a == b {
			continue
		}
		name := cmp.Or(a, b).Name()
		first := len(changes)
		for _, d := range mesh.Compare(a, b) {
			changes = append(changes, newChange(name, d))
		}
		slices.SortFunc(changes[first:], func(a, b Change) int {
			return cmp.Or(cmp.Compare(a.Action, b.Action), a.difference.First().Compare(b.difference.First()))
		})
	}
	return changes
}
