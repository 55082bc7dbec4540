// Package bootstrap makes the configuration that a proxy starts with (SPEC 11.7). A caller
// fills in the [Options] and the [Server], and calls one of these:
//
//   - [Static] puts all resources of a snapshot into the bootstrap, so that Envoy runs
//     without a server.
//   - [ADS] names the server from which Envoy fetches its resources.
//   - [GRPC] does the same for a process that uses gRPC instead of Envoy.
//
// Invariants:
//
//   - A bootstrap depends only on the arguments: no file is read, and no server is asked.
//   - A bootstrap has no private key, only paths of files and names of secrets.
package bootstrap
