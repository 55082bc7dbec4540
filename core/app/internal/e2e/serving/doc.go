// Package serving tests the server of package serve with real clients: Envoys that are
// started from the output of `meshmatch bootstrap`, and gRPC (SPEC 12).
//
//  1. A mesh is a directory of files, on a network of its own (mesh_test.go). Replicas
//     of the server watch the directory (replica_test.go).
//  2. The clients reach a replica through a relay, which can send them to another one
//     (relay_test.go).
//  3. While requests are sent without a pause (traffic_test.go), files change, replicas
//     restart, and clients move between replicas (envoy_test.go). No request may fail.
//  4. gRPC of Go and of Python resolves a name, and makes calls, by the resources of the
//     server (grpc_test.go, grpc_python_test.go, and the programs of ../hello in
//     grpc_hello_test.go), with mutual TLS (grpc_identity_test.go).
//     gRPC servers of both have their listeners and permissions from it
//     (grpc_server_test.go).
//  5. Edits leave open connections as they are, or close them, as the table of package
//     effect has it (drains_test.go, drains_tls_test.go, permission_test.go).
//  6. Caching relays in a row are between the server and the clients, and any of them is
//     restarted (caching_relay_test.go), with mutual TLS and shared endpoints
//     (secured_relay_test.go).
package serving
