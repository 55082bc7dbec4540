// Package meshretry defines the policy kind MeshRetry: when and how often the proxy
// retries connections, HTTP requests and gRPC calls that fail.
//
// It contains the conf, the allowed arrays and targetRefs, and the validation. It does
// not depend on other kinds, dataplanes or Envoy; core/xds/translators turns a conf into
// Envoy configuration.
package meshretry
