// Package meshretry defines the policy kind MeshRetry: when and how often the proxy
// retries connections, HTTP requests and gRPC calls that fail.
//
// It has the conf, the places where the kind is allowed, and the validation. It does not
// know other kinds, dataplanes, or what Envoy makes of a conf: that is in
// core/xds/translators.
package meshretry
