// Package envoytest runs what tests with a real Envoy need, on loopback:
//
//   - proxies (proxy.go), and a certificate authority (authority.go)
//   - workloads that answer HTTP and gRPC (app.go, app_grpc.go)
//   - an address for each of them (network.go)
//   - a limit for each wait of a test (limit.go)
package envoytest
