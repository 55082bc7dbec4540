// Package e2e tests by traffic that a real Envoy decides as this program does.
//
//  1. The Envoy that the variable ENVOY names is started on loopback, with a
//     listener for each inbound under test that carries the filters of package
//     xds, with mutual TLS (envoy_test.go, listener_test.go).
//  2. Clients with certificates of a CA made for the run, an SVID or one that
//     carries tags, send requests (client_test.go).
//  3. What each got, a response or a closed connection, and what Envoy counted,
//     for the shadow decision and for each policy too, is compared with what
//     `access` answers (rbac_test.go).
//
// The other packages use Envoy in the same way:
//
//   - stories tests what each policy kind does.
//   - worlds tests that Envoy accepts the resources of random meshes.
//   - serving tests that Envoys and gRPC lose no request while their server has changes.
//   - solver has answers about permissions proven by z3, without Envoy.
//   - driver runs the integration tests of go-control-plane against this server.
//   - The command demo shows two proxies of the demo mesh.
//
// Package envoytest runs Envoys, certificate authorities and workloads for all of them.
//
// Without ENVOY the tests are skipped; in CI, where CI=true, they fail.
// `make e2e` fetches Envoy and runs them.
package e2e
