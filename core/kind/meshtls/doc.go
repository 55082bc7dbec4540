// Package meshtls defines the policy kind MeshTLS: whether an inbound requires TLS, and
// which versions and ciphers it accepts.
//
// It has the conf, the places where the kind is allowed, and the validation. It does not
// know other kinds, dataplanes, or what Envoy makes of a conf: that is in
// core/xds/translators.
package meshtls
