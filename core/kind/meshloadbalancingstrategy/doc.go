// Package meshloadbalancingstrategy defines the policy kind
// MeshLoadBalancingStrategy: which endpoint of an outbound's service gets a
// request, by algorithm and by locality.
//
// It has the conf, the places where the kind is allowed, and the validation. It does not
// know other kinds, dataplanes, or what Envoy makes of a conf: that is in
// core/xds/translators.
package meshloadbalancingstrategy
