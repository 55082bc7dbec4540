// Package meshhealthcheck defines the policy kind MeshHealthCheck: the checks by which
// the proxy determines which endpoints of its outbounds are healthy.
//
// It contains the conf, the allowed arrays and targetRefs, and the validation. It does
// not depend on other kinds, dataplanes or Envoy; core/xds/translators turns a conf into
// Envoy configuration.
package meshhealthcheck
