// Package shape makes the meshes on which benchmarks run. It derives them from
// numbers alone, so the same numbers give the same mesh everywhere.
//
// "fleet" is a large mesh: some policies are for all dataplanes, some for a team,
// many for one service. "sparse" and "shared label" are the extremes for an index:
// few policies select any one dataplane, and all selectors share one tag.
package shape
