// Package meshtimeout defines the policy kind MeshTimeout: how long connections,
// streams and requests of the proxy's outbounds and inbounds may take.
//
// It has the conf, the places where the kind is allowed, and the validation. It does not
// know other kinds, dataplanes, or what Envoy makes of a conf: that is in
// core/xds/translators.
package meshtimeout
