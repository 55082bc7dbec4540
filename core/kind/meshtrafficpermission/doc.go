// Package meshtrafficpermission defines the policy kind MeshTrafficPermission: which
// clients may send requests to an inbound. `from` selects clients by their tags and
// has an action for each; `rules` lists matches of requests to deny and to allow.
//
// It contains the conf, the allowed arrays and targetRefs, and the validation. It does
// not depend on other kinds, dataplanes or Envoy; core/xds/translators turns a conf into
// Envoy configuration.
package meshtrafficpermission
