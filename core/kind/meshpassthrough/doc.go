// Package meshpassthrough defines the policy kind MeshPassthrough: the destinations
// outside the mesh that the workload of a proxy can reach.
//
// It contains the conf, the allowed arrays and targetRefs, and the validation. It does
// not depend on other kinds, dataplanes or Envoy; core/xds/translators turns a conf into
// Envoy configuration.
package meshpassthrough
