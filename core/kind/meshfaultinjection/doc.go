// Package meshfaultinjection defines the policy kind MeshFaultInjection: requests to an
// inbound that are aborted, delayed or answered slowly, to test resilience.
//
// It has the conf, the places where the kind is allowed, and the validation. It does not
// know other kinds, dataplanes, or what Envoy makes of a conf: that is in
// core/xds/translators.
package meshfaultinjection
