// Package envoytest runs what tests with a real Envoy need, on loopback: proxies
// (proxy.go), a certificate authority (authority.go), workloads of all protocols
// (app.go, app_grpc.go, app_tcp.go), collectors of telemetry (collector.go), and
// addresses of their own for each (network.go).
package envoytest
