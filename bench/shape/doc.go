// Package shape makes the worlds that benchmarks run on, from a number alone:
// the same number gives the same world everywhere.
//
// "fleet" is what a large mesh looks like: some policies for everybody, some
// for a team, many for one service. "sparse" and "shared label" are its
// extremes for an index: a few policies select anything at all, and every
// selector has one label in common.
package shape
