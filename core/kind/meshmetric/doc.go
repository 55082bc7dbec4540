// Package meshmetric defines the policy kind MeshMetric: which metrics of a proxy, and
// of the programs on its machine, are collected, and where they are sent.
//
// It has the conf, the places where the kind is allowed, and the validation. It does not
// know other kinds, dataplanes, or what Envoy makes of a conf: that is in
// core/xds/translators.
package meshmetric
