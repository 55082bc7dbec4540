// Package world measures what an engine costs in a control plane: a world of
// dataplanes and policies is loaded once, then changed one thing at a time, and
// read.
//
// The pipeline:
//
//  1. A [Shape] makes the resources from numbers alone (shapes.go). If files
//     are measured too, the resources are written to files, and those that the
//     loader returns are used from then on (files.go).
//  2. [Measure] applies them to an engine: this gives the time of the first
//     build, and the heap that the engine takes in addition to the resources.
//  3. It applies each kind of change some hundred times (changes.go). The times
//     are those of Apply alone. The same run checks that each commit touched as
//     many dataplanes as it was meant to.
//  4. [Slopes] compares worlds of different sizes. A change that touches as many
//     dataplanes in each world should cost as much in each world.
//
// Times are of the machine at hand, with the garbage collector running as in
// production. `meshmatch bench world` prints a [Report], and `make bench-world`
// fails if a slope is too steep.
package world
