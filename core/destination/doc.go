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
//  4. [Set.Confs] merges the `to` items for outbounds, and for the routes of outbounds.
//
// Outbounds and confs are made when they are asked for, so a change of a destination
// costs a commit nothing. Lists of outbounds are kept by what the dataplanes reach: their
// memory grows with the number of different filters, not with the dataplanes.
//
// Invariants:
//
//   - A Set is immutable, except for the lists that it keeps, and safe for concurrent use.
//   - What a reference finds depends on the destinations, not on the order in which they
//     were added.
package destination
