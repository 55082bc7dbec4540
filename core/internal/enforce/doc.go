// Package enforce evaluates where policies are enforced and where they inform (SPEC
// 8). Its inputs are placements and bindings. For each policy of Open Cluster
// Management (OCM) it derives a set of clusters, and for each policy of a mesh a
// condition on dataplanes. Package rollout plans rollouts.
//
// The pipeline of a [Hub]:
//
//  1. Resources (package ocm) are the nodes of a graph. A name to which a resource
//     refers is also a node, even if there is no such resource. So the reference
//     takes effect when the resource appears. Names have dense ids; a set of
//     clusters is an [index.Set] of the ids of their names.
//  2. Each placement becomes a selection: the clusters of its decisions, or of
//     its names and its cluster selector, and a selector and a list of dataplanes.
//  3. Each OCM policy becomes an [Effect]: the sets P, Q and R of SPEC 8.2 are
//     unions of the selections of its bindings, directly or through PolicySets.
//  4. For a policy of a mesh, P is the set of dataplanes that its targetRef selects.
//     This package does not evaluate it. Q ∪ R is a list of placements,
//     [Hub.Overrides]. The placements that contain a dataplane are another list,
//     [Hub.AppendPlacements]. The policy is enforced on the dataplane if the two
//     lists have a common element.
//
// An [Editor] makes the next version of a Hub. It evaluates again only the dependents
// of a changed resource. If a cluster changes, the selectors are evaluated for that
// cluster alone. If a decision changes, its placement is evaluated. If a placement
// selects other clusters, the policies of its bindings are evaluated. The [Delta] of an
// edit describes what changed for the policies of meshes: which placements, and in
// which regions of dataplanes (zones and labels). Package match treats a placement as a
// term. A dataplane has the terms of the placements that contain it. A policy with the
// shadow label is enforced on a dataplane that has one of the policy's terms. So
// dataplanes in the same placements share a class.
//
// Where SPEC is silent:
//
//   - A binding, its placement, its subjects and the members of a PolicySet are in
//     the same namespace, even if the subjects are policies of a mesh: a binding
//     without a namespace binds a policy in the universal format without a
//     namespace.
//   - A binding binds the mesh policies with a name in every mesh or, with the label
//     kuma.io/mesh, only in that mesh.
//   - An empty clusterSelector selects every cluster with a ManagedCluster and, for
//     the policies of a mesh, every zone. Dataplanes without a zone are in no
//     placement, except in one whose rules are about dataplanes only (SPEC 8.3).
//   - The zone of a dataplane without the label is the tag of its first inbound or
//     gateway that has one.
//   - A policy without a remediationAction informs.
//   - A dataplaneSelector and a list of dataplanes have no effect on OCM policies, which
//     is a warning.
//
// Invariants:
//
//   - A Hub is immutable, and safe for any number of readers. It depends on
//     the resources alone, not on the order in which they were added.
//   - A policy is enforced only where a binding without subFilter places it (for
//     a mesh policy: where its targetRef selects), and only if it enforces by
//     itself or a binding overrides it there.
//   - A name has a node while a resource has the name or refers to it.
package enforce
