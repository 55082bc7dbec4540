// Package shape makes the meshes on which benchmarks run. It derives them from
// numbers alone, so the same numbers give the same mesh everywhere.
//
// "fleet" is a large mesh: some policies are for all dataplanes, some for a team,
// many for one service. "sparse" and "shared label" are the extremes for an index:
// few policies select any one dataplane, and all selectors share one tag. Documents for
// benchmarks of reading (documents.go) are of all kinds, as Kubernetes has them.
//
// Other inputs come from other projects. They are made by the rule that each of them
// publishes, and cited by repository, file and commit:
//
//   - the random service graph of Kong/mesh-perf with the policy that its tests apply
//     (mesh_perf.go)
//   - the selectors of Calico's benchmarks (calico.go)
//   - the merge examples of Envoy Gateway and of the Gateway API (merges.go)
package shape
