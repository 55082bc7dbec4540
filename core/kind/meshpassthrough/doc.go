// Package meshpassthrough defines the policy kind MeshPassthrough: which destinations
// outside of the mesh the workload of a proxy can reach.
//
// It has the conf, the places where the kind is allowed, and the validation. It does not
// know other kinds, dataplanes, or what Envoy makes of a conf: that is in
// core/xds/translators.
package meshpassthrough
