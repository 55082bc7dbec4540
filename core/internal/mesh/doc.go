// Package mesh computes the configurations of the dataplanes of one mesh, and
// updates them after each batch. Package core applies batches to all meshes and
// publishes their states as one view; it alone imports this package.
//
// # Usage
//
// To change a mesh:
//
//  1. [NewWriter] returns the writer of a mesh without resources; [Rebuild] makes
//     one for a published state, if the one that made it is not known.
//  2. [Writer.Prepare] removes from a [Batch] what changes nothing, and makes the
//     next index of policies. It changes neither the writer nor the state.
//  3. [Update.Run] makes the next [State]. After an error the writer is ahead of
//     the published state, or inconsistent, and must be dropped.
//
// [Compare] finds the differences of two states.
//
// # Invariants
//
//   - A [State] is immutable and safe for concurrent use. A [Writer] is for one
//     goroutine at a time.
//   - A dataplane has one profile, a profile has members, and a class has profiles.
//     [Writer.Check] verifies this.
//   - A state depends on its resources alone, not on the batches that led to it.
package mesh
