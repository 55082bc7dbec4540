// Package meshproxypatch defines the policy kind MeshProxyPatch: changes to the Envoy
// configuration of a proxy for which no other kind has a field.
//
// It has the conf, the places where the kind is allowed, and the validation. It does not
// know other kinds, dataplanes, or what Envoy makes of a conf: that is in
// core/xds/translators.
package meshproxypatch
