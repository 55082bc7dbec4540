// Package envoytest runs what tests with a real Envoy need, on loopback: proxies
// (proxy.go), a certificate authority (authority.go), workloads that answer HTTP and
// gRPC (app.go, app_grpc.go), addresses of their own for each (network.go), and a limit
// for what a test waits for (limit.go).
package envoytest
