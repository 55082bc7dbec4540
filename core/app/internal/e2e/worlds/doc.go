// Package worlds tests that Envoy and gRPC accept what random meshes become (SPEC 7.2,
// 11.1, 11.4). For Envoy:
//
//  1. Package fuzz makes meshes with policies of all kinds over small alphabets
//     (worlds_test.go). Half of them get identities.
//  2. The bootstraps of all their dataplanes are built. Several are merged into one,
//     with names and addresses of their own (merge_test.go), as most of the time of a
//     validation is the start of Envoy.
//  3. `envoy --mode validate` loads it. If it refuses one, each of its parts is
//     validated for itself, and those at fault are reported with their mesh.
//  4. Documents with all fields get extreme values, one and three at a time, and Envoy
//     validates what becomes of those that are valid (extremes_test.go).
//
// For gRPC a server serves all meshes. A client calls each name that it may resolve, and
// a server listens for each inbound (grpc_test.go).
package worlds
