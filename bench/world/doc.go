// Package world measures what an engine costs as a control plane uses it: a
// world is loaded once, then changed one thing at a time, and read.
//
// The pipeline:
//
//  1. A [Shape] makes the resources from numbers alone (shapes.go).
//  2. [Measure] loads them into an engine: the cold build, and the heap that it
//     takes beyond the resources.
//  3. It applies each [kind of change] some hundred times (changes.go): the
//     times are those of Apply alone. That each commit did what it was meant to
//     is checked in the same run, by the dataplanes that it tells of.
//  4. [Slopes] compares worlds of different sizes: a change that touches as many
//     dataplanes in each of them should cost as much in each of them.
//
// Times are of the machine at hand, with the garbage collector running as it
// does in production. `meshmatch bench world` prints a [Report], and `make
// bench-world` fails where a slope is too steep.
//
// [kind of change]: changes.go
package world
