// Package meshcircuitbreaker defines the policy kind MeshCircuitBreaker: limits of
// connections and requests, and the ejection of failing endpoints.
//
// It contains the conf, the allowed arrays and targetRefs, and the validation. It does
// not depend on other kinds, dataplanes or Envoy; core/xds/translators turns a conf into
// Envoy configuration.
package meshcircuitbreaker
