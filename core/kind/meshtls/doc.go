// Package meshtls defines the policy kind MeshTLS: whether an inbound requires TLS, and
// which versions and ciphers it accepts.
//
// It contains the conf, the allowed arrays and targetRefs, and the validation. It does
// not depend on other kinds, dataplanes or Envoy; core/xds/translators turns a conf into
// Envoy configuration.
package meshtls
