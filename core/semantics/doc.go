// Package semantics contains the two ways to read policies (SPEC 17.1): TargetRef, which
// is that of SPEC 1 to 9, and Kuma, which is that of a Kuma control plane.
//
// A [Semantics] is one value that an engine is made with, that each view has, and that
// each answer names. It answers every question on which the two ways differ, so that no
// other package asks which of them is in use:
//
//  1. Which dataplanes may a policy select? A dataplane has facts
//     ([Semantics.ProxyFacts], [Semantics.PointFacts]), and a policy requires some, by
//     its top-level targetRef, its role, its namespace and its zone
//     ([Semantics.AppendRequired]). Package core/internal/match indexes them.
//  2. Which of two policies overrides the other? [Semantics.Order] returns the order.
//  3. Which route does a targetRef refer to? [Semantics.RefersToRoute] reports it.
//  4. Does a `from` item apply to clients by their tags, is it a rule, or is it not read?
//     [Semantics.FromItems] returns it.
//  5. Are the permissions of a dataplane applied? [Semantics.PermissionsApply] reports it.
//  6. Which fields does a conf have that no document has, and which policies does a new
//     mesh have? [Semantics.WithDefaults] and [Semantics.DefaultPolicies] return them.
//  7. By which name and KRI is a resource known? [Semantics.ReferenceName] and
//     [Semantics.KRI] return them.
//  8. Which destinations does a reference find, which does a transparent proxy reach,
//     and which `to` items apply to their outbounds, in which order?
//     [Semantics.FindsByName], [Semantics.ReachesAll] and [Semantics.DestinationItems],
//     which package core/destination uses.
//
// [Detect] finds the semantics of resources that do not name one.
//
// Invariants:
//
//   - A Semantics has no state; equal policies have equal answers.
//   - Its order is strict and total over policies with different identities.
//   - The package does not depend on the engine, nor on any index.
package semantics
