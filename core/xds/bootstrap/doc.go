// Package bootstrap makes the configuration that a proxy starts with (SPEC 11.7):
//
//   - [Static] has all resources of a snapshot inside: Envoy runs without a server.
//   - [ADS] names the server from which Envoy fetches its resources.
//   - [GRPC] does so for a process that is gRPC instead of Envoy.
//
// The package does not know streams, nor how a snapshot is built.
package bootstrap
