// Package ocm contains the resources of Open Cluster Management that decide
// where a policy is enforced (SPEC 8.1), and the Rollout of SPEC 8.6: their
// types, and how a document becomes one of them.
//
// A document is decoded in the Kubernetes spelling, with the field names of the
// released API and of proposal 003. Fields that have no effect here, such as a
// Policy's templates, are accepted and dropped. The status of a resource is
// dropped too, except for the decisions of a PlacementRule and of a
// PlacementDecision.
//
// The pipeline of a document:
//
//  1. The loader (package resource) decodes apiVersion, kind and metadata.
//  2. The kind's decoder reads the other fields (package strict), validates them
//     and reports each error with its place, path and a hint.
//  3. Both spellings of a binding become one [PlacementBinding]; words of any
//     letter case become an [Action].
//
// Invariants: a resource is immutable once it was decoded. The mesh of its
// identity is empty: OCM resources belong to no mesh.
package ocm
