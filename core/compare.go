package core

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/internal/mesh"
	"github.com/meshmatch/meshmatch/core/internal/sorted"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Compare returns what changed for dataplanes from one view to another, sorted by mesh,
// action and first identity. The result depends on the content of the views alone, not on
// the commits between them. A dataplane is in one change at most. A dataplane whose
// confs, origins and own resource are equal in both views is left out. Positions in files are
// ignored. If destinations changed themselves, [CompareDestinations] names their clients.
//
// MeshIdentities and MeshTrusts are not part of a configuration, so their effects, such
// as the SPIFFE IDs of dataplanes, are in no change. To find those, compare what
// [View.Identities] and [View.Trusts] return for both views, which is shared until it
// changes. [CompareDestinations] returns the changes of destinations.
//
// A nil view has no meshes, as before the first batch.
//
// For two views of one engine the cost is proportional to their difference, regardless of
// the number of commits between them. For other views every dataplane is visited.
func Compare(before, after *View) []Change {
	var changes []Change
	for a, b := range changedMeshes(before, after) {
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

// EditedDataplanes yields the dataplanes whose own resources were added, changed or
// removed from one view to another, in any order: each as an old and a new version, nil
// if it does not exist. Positions in files are ignored. It is cheaper than [Compare],
// which also compares configurations.
func EditedDataplanes(before, after *View) iter.Seq2[*resource.Dataplane, *resource.Dataplane] {
	return func(yield func(old, next *resource.Dataplane) bool) {
		for a, b := range changedMeshes(before, after) {
			for old, next := range mesh.Edited(a, b) {
				if !yield(old, next) {
					return
				}
			}
		}
	}
}

// TouchedDataplanes yields the dataplanes whose own resources or configurations may differ in two
// views, in any order, some twice: the dataplanes of either view, in its version. [Compare]
// returns which of them differ; this is cheaper, because nothing is compared.
func TouchedDataplanes(before, after *View) iter.Seq[*resource.Dataplane] {
	return func(yield func(*resource.Dataplane) bool) {
		for a, b := range changedMeshes(before, after) {
			for d := range mesh.Touched(a, b) {
				if !yield(d) {
					return
				}
			}
		}
	}
}

// changedMeshes yields the states of the meshes that two views do not share, sorted by
// name; nil for a mesh that a view does not have.
func changedMeshes(before, after *View) iter.Seq2[*mesh.State, *mesh.State] {
	return func(yield func(a, b *mesh.State) bool) {
		for a, b := range sorted.Join(before.states(), after.states(), meshByName) {
			if a != b && !yield(a, b) {
				return
			}
		}
	}
}

func meshByName(a, b *mesh.State) int { return strings.Compare(a.Name(), b.Name()) }
