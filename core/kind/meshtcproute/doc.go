// Package meshtcproute defines the policy kind MeshTCPRoute: to which backends the
// connections to a service are sent. Other policies can select a route by its name
// (SPEC 4.3).
//
// It has the conf, the places where the kind is allowed, and the validation. It does not
// know other kinds, dataplanes, or what Envoy makes of a conf: that is in
// core/xds/translators.
package meshtcproute
