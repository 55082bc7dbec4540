// Package meshloadbalancingstrategy defines the policy kind
// MeshLoadBalancingStrategy: which endpoint of an outbound's service gets a
// request, by algorithm and by locality.
//
// It contains the conf, the allowed arrays and targetRefs, and the validation. It does
// not depend on other kinds, dataplanes or Envoy; core/xds/translators turns a conf into
// Envoy configuration.
package meshloadbalancingstrategy
