// Package meshproxypatch defines the policy kind MeshProxyPatch: changes to the Envoy
// configuration of a proxy for which no other kind has a field.
//
// It contains the conf, the allowed arrays and targetRefs, and the validation. It does
// not depend on other kinds, dataplanes or Envoy; core/xds/translators turns a conf into
// Envoy configuration.
package meshproxypatch
