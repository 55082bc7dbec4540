// Package destination resolves references to destinations, and computes the confs of
// their outbounds (SPEC 17.3). A destination is a MeshService, a MeshExternalService or a
// MeshMultiZoneService.
//
// The pipeline:
//
//  1. [New] makes the [Directory] of the destinations of a mesh, with an index of their names
//     and labels.
//  2. [Directory.Find] returns the destinations that a reference of a policy finds.
//  3. [Directory.Outbounds] returns the outbounds of a dataplane: its listed outbounds or,
//     with a transparent proxy, one for each port of each destination that it reaches.
//  4. [Directory.Index] files the `to` items of all policies of the mesh by their selectors (see
//     package items). [Index.After] and [Index.ForDirectory] make the next version after a change of
//     policies or of destinations, from what did not change.
//  5. [Index.Confs] takes the items of the policies that select a dataplane,
//     and [Confs.ConfigFor] merges them for an outbound and for its routes.
//  6. [Selectors] finds the MeshServices for which a dataplane is an endpoint.
//
// Outbounds and confs are made on demand, so a change of a destination adds no cost to
// a commit. Lists of outbounds are cached by the filter of the dataplanes, and merged
// confs by their items. So the memory grows with the number of distinct filters and
// confs, not with the number of dataplanes.
//
// Invariants:
//
//   - A Directory and an Index are immutable, except for their caches, and safe for concurrent
//     use.
//   - Outbounds with the same items share one conf pointer, in all versions of a mesh that
//     have these items.
//   - A version of an Index has the items that a new Index of its policies and destinations
//     has. Tests check this after each commit ([Index.Check]).
//   - The result of a reference depends on the destinations, not on the order in which
//     they were added.
package destination
