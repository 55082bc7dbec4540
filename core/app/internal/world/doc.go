// Package world measures the cost of an engine in a control plane: it loads a
// world of dataplanes and policies once, changes it in small steps, and reads it.
//
// The pipeline:
//
//  1. A [Shape] makes the resources from numbers alone (shapes.go). If loading is
//     also measured, they are written to files, and the resources that the loader
//     reads from the files replace them (files.go).
//  2. [Measure] applies them to an engine. This gives the time of the first
//     build, and the heap that the engine takes in addition to the resources.
//  3. It applies each kind of change a few hundred times (changes.go), and measures
//     Apply alone. The same run checks that each commit touched the intended number
//     of dataplanes.
//  4. [Slopes] compares worlds of different sizes. A change that touches the same
//     number of dataplanes in each world should have the same cost in each world.
//
// Times depend on the machine. They are measured with the garbage collector running,
// as in production. `benchworld` prints a [Report], and `make bench-world`
// fails if a slope is too steep.
package world
