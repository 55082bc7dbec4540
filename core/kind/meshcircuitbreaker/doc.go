// Package meshcircuitbreaker defines the policy kind MeshCircuitBreaker: limits of
// connections and requests, and the ejection of failing endpoints.
//
// It has the conf, the places where the kind is allowed, and the validation. It does not
// know other kinds, dataplanes, or what Envoy makes of a conf: that is in
// core/xds/translators.
package meshcircuitbreaker
