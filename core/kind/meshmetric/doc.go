// Package meshmetric defines the policy kind MeshMetric: which metrics of a proxy, and
// of the programs on its machine, are collected, and where they are sent.
//
// It contains the conf, the allowed arrays and targetRefs, and the validation. It does
// not depend on other kinds, dataplanes or Envoy; core/xds/translators turns a conf into
// Envoy configuration.
package meshmetric
