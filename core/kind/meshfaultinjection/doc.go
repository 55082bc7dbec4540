// Package meshfaultinjection defines the policy kind MeshFaultInjection: requests to an
// inbound that are aborted, delayed or answered slowly, to test resilience.
//
// It contains the conf, the allowed arrays and targetRefs, and the validation. It does
// not depend on other kinds, dataplanes or Envoy; core/xds/translators turns a conf into
// Envoy configuration.
package meshfaultinjection
