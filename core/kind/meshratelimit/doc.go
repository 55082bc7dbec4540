// Package meshratelimit defines the policy kind MeshRateLimit: how many requests
// and connections an inbound accepts in an interval.
//
// It has the conf, the places where the kind is allowed, and the validation. It does not
// know other kinds, dataplanes, or what Envoy makes of a conf: that is in
// core/xds/translators.
package meshratelimit
