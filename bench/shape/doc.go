// Package shape makes the worlds that benchmarks run on, from a number alone:
// the same number gives the same world everywhere.
//
// "fleet" is a large mesh: some policies are for all dataplanes, some for a team,
// many for one service. "sparse" and "shared label" are the extremes for an index:
// few policies select any one dataplane, and all selectors have one tag in common.
package shape
