// Package bootstrap makes the configuration that a proxy starts with (SPEC 11.7).
//
//  1. A caller makes the [Options] or the [Server] of flags.
//  2. [Static] puts all resources of a snapshot into a bootstrap: Envoy runs without a
//     server. [ADS] names the server from which Envoy fetches its resources. [GRPC] does so
//     for a process that has gRPC instead of Envoy.
//
// Invariants:
//
//   - A bootstrap depends on the arguments alone: no file is read, and no server is asked.
//   - A bootstrap has no private key, only paths of files and names of secrets.
//
// The package does not know streams, nor how a snapshot is built.
package bootstrap
