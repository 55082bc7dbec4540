// Package meshtrafficpermission defines the policy kind MeshTrafficPermission: which
// clients may send requests to an inbound. `from` selects clients by their tags and
// has an action for each; `rules` lists matches of requests to deny and to allow.
//
// It has the conf, the places where the kind is allowed, and the validation. It does not
// know other kinds, dataplanes, or what Envoy makes of a conf: that is in
// core/xds/translators.
package meshtrafficpermission
