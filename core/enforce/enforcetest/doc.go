// Package enforcetest makes random placements, bindings and policies for tests of
// enforcement.
//
// What it makes depends on the source of random numbers alone. It does not know confs.
package enforcetest
