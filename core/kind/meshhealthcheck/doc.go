// Package meshhealthcheck defines the policy kind MeshHealthCheck: the checks by which
// the proxy determines which endpoints of its outbounds are healthy.
//
// It has the conf, the places where the kind is allowed, and the validation. It does not
// know other kinds, dataplanes, or what Envoy makes of a conf: that is in
// core/xds/translators.
package meshhealthcheck
