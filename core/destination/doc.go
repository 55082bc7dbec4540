// Package destination resolves references to destinations, and computes the confs of
// their outbounds (SPEC 17.3). A destination is a MeshService, a MeshExternalService or a
// MeshMultiZoneService.
//
// The pipeline:
//
//  1. [New] makes the [Set] of the destinations of a mesh, with an index of their names
//     and labels.
//  2. [Set.Find] returns what a reference of a policy finds.
//  3. [Set.Outbounds] returns the outbounds of a dataplane: those that it lists or, behind
//     a transparent proxy, one for each port of each destination that it reaches.
//  4. [Set.Index] contains the `to` items of all policies of the mesh, by the
//     destinations that they find.
//  5. [Index.Confs] selects those of the policies that select a dataplane, and
//     [Confs.Of] merges them for an outbound and for its routes.
//  6. [Selectors] find the MeshServices whose endpoints a dataplane has.
//
// Outbounds and confs are made when they are asked for, so a change of a destination
// costs a commit nothing. Lists of outbounds are kept by what the dataplanes reach, and
// merged confs by their items: their memory grows with the number of different filters
// and of different confs, not with the dataplanes.
//
// Invariants:
//
//   - A Set and an Index are immutable, except for what they keep, and safe for concurrent
//     use.
//   - Outbounds of one Set with the same items have one conf, by its pointer.
//   - What a reference finds depends on the destinations, not on the order in which they
//     were added.
package destination
