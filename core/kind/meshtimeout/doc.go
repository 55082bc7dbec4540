// Package meshtimeout defines the policy kind MeshTimeout: how long connections,
// streams and requests of the proxy's outbounds and inbounds may take.
//
// It contains the conf, the allowed arrays and targetRefs, and the validation. It does
// not depend on other kinds, dataplanes or Envoy; core/xds/translators turns a conf into
// Envoy configuration.
package meshtimeout
