// Package meshtrace defines the policy kind MeshTrace: where a proxy sends the spans of
// its requests, for which share of them, and with which tags.
//
// It has the conf, the places where the kind is allowed, and the validation. It does not
// know other kinds, dataplanes, or what Envoy makes of a conf: that is in
// core/xds/translators.
package meshtrace
