// Package driver runs the integration driver of go-control-plane with the server of this
// module in the place of its own (SPEC 12). The driver is the program pkg/test/main of that
// project: a real Envoy gets several versions of a configuration, and requests through it
// must be answered after each.
//
//  1. The driver's package pkg/test/resource/v3 makes the resources:
//     clusters with EDS, HTTP listeners with RDS, TCP listeners, and certificates by SDS.
//     All names except those of listeners change with each version (run_test.go).
//  2. A server publishes them, of this module or of go-control-plane
//     (servers_test.go). An Envoy with the driver's bootstrap fetches them by ADS, in either
//     protocol (bootstrap_test.go).
//  3. Each version has an upstream of its own. Requests to all listeners are sent without a
//     pause (requests_test.go), and all listeners must reach the newest upstream.
//
// The driver is content if one batch of five succeeds after a version, at any upstream. With
// the server of this module more is required: Envoy rejects nothing, nothing of earlier
// versions is left in it, and while versions change each listener fails at most one request
// for each update. That one is on a connection that a client opened just before the listener
// was replaced: Envoy keeps the old routes for it, and the clusters of these are removed next.
//
// What the driver has and this server does not, with the reasons, is in bench/CONFORMANCE.md.
package driver
