// Package meshtrace defines the policy kind MeshTrace: where a proxy sends the spans of
// its requests, for which share of them, and with which tags.
//
// It contains the conf, the allowed arrays and targetRefs, and the validation. It does
// not depend on other kinds, dataplanes or Envoy; core/xds/translators turns a conf into
// Envoy configuration.
package meshtrace
