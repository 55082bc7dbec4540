// Package meshaccesslog defines the policy kind MeshAccessLog: where lines about
// requests and connections are written, and in which format.
//
// It has the conf, the places where the kind is allowed, and the validation. It does not
// know other kinds, dataplanes, or what Envoy makes of a conf: that is in
// core/xds/translators.
package meshaccesslog
