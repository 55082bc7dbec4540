// Package meshratelimit defines the policy kind MeshRateLimit: how many requests
// and connections an inbound accepts in an interval.
//
// It contains the conf, the allowed arrays and targetRefs, and the validation. It does
// not depend on other kinds, dataplanes or Envoy; core/xds/translators turns a conf into
// Envoy configuration.
package meshratelimit
