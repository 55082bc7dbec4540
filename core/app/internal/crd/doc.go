// Package crd makes the CustomResourceDefinitions of the kinds that this program reads
// on Kubernetes, including the kinds of embedders (SPEC 14.2):
//
//	resource.Shapes  ─>  Definitions  ─>  JSON or YAML
//
// The schema of a kind is made of its Conf types, by confgen, and of its description
// ([resource.Kind]). It is structural, and has the limits of the validation that OpenAPI
// can express. The server that follows the objects validates them again.
//
// Invariant: the same kinds give the same bytes.
package crd
