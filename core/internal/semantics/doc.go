// Package semantics contains the ways to read policies (SPEC 17.1): TargetRef reads them
// by SPEC 1 to 9; Kuma and Kuma3 read them like the control planes of Kuma 2 and Kuma 3.
//
// An engine is made with a [Semantics]; each view has it, and each answer names it. It
// answers every question on which these ways differ, so that no other package checks
// which one is in use:
//
//  1. Which dataplanes may a policy select? A dataplane has facts
//     ([Semantics.ProxyFacts], [Semantics.PointFacts]). The top-level targetRef, the
//     role, the namespace and the zone of a policy require facts
//     ([Semantics.AppendRequired]). Package core/internal/match indexes them.
//  2. Which of two policies overrides the other? [Semantics.Order] returns the order.
//  3. Which route does a targetRef refer to? [Semantics.RefersToRoute] reports it.
//  4. Does a `from` item apply to clients by their tags, is it a rule, or is it ignored?
//     [Semantics.FromItems] returns it.
//  5. Are the permissions of a dataplane applied? [Semantics.PermissionsApply] reports it.
//  6. Which fields does the schema set in a conf, which does a version not read, and
//     which policies does a new mesh have? [Semantics.AsStored] and
//     [Semantics.DefaultPolicies] return them.
//  7. Which name and which KRI identify a resource? [Semantics.ReferenceName]
//     and [Semantics.KRI] return them.
//  8. Which destinations does a reference find, which does a transparent proxy reach,
//     and which `to` items apply to their outbounds, in which order? Package
//     core/internal/destination calls [Semantics.FindsByName], [Semantics.ReachesAll] and
//     [Reading.CompareItems].
//  9. Which dataplanes does a MeshService select, and how do proxies reach them? The
//     methods in services.go, multi_zone.go and zones.go return it.
//  10. What does the mesh give to the proxy of a dataplane, instead of what its document
//     has? [Semantics.Proxies] returns what completes the dataplanes of a mesh: the
//     listeners of builtin gateways and the service tags of transparent proxies.
//
// [Detect] finds the semantics of resources if the caller names none.
//
// Invariants:
//
//   - A Semantics has no state; equal policies have equal answers.
//   - Its order is strict and total over policies with different identities.
//   - The package does not depend on the engine or on any index.
package semantics
