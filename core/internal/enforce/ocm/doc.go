// Package ocm contains the resources of Open Cluster Management that determine
// where a policy is enforced (SPEC 8.1), and the Rollout of SPEC 8.6: their types, and
// how they are decoded from documents.
//
// Documents have the Kubernetes format, with the field names of the released API and
// of proposal 003. Fields that have no effect here, such as a Policy's templates, are
// accepted and dropped. The status of a resource is dropped too, except for the
// decisions of a PlacementRule and of a PlacementDecision.
//
// The pipeline of a document:
//
//  1. The loader (package resource) decodes apiVersion, kind and metadata.
//  2. The kind's decoder reads the other fields (package strict), validates them
//     and reports each error with its place, path and a hint.
//  3. Both forms of a binding become one [PlacementBinding]; an action in any letter
//     case becomes an [Action].
//
// Invariants: a resource is immutable once it is decoded. The mesh of its
// identity is empty: OCM resources belong to no mesh.
package ocm

//go:generate go run github.com/meshmatch/meshmatch/cmd/confgen
