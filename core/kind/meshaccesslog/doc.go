// Package meshaccesslog defines the policy kind MeshAccessLog: where lines about
// requests and connections are written, and in which format.
//
// It contains the conf, the allowed arrays and targetRefs, and the validation. It does
// not depend on other kinds, dataplanes or Envoy; core/xds/translators turns a conf into
// Envoy configuration.
package meshaccesslog
