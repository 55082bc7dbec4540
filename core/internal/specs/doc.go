// Package specs contains the specs of the objects of SPEC 17.2, of a Mesh and of an
// AccessTest: data, as a document has them. It also contains [Tags], which both
// these specs and the other resources have.
//
// A spec is a struct. Package strict decodes it by its fields and then calls the Validate
// methods, from the innermost struct outwards; the generated method Schema returns its
// structural OpenAPI schema. Package resource gives a spec its identity and its place in
// a set: [MeshService], for example, is the Spec of a resource.MeshService.
//
// Invariants: a spec does not depend on other resources, on files or on results computed
// from resources. Specs are immutable once decoded.
package specs

//go:generate go run github.com/meshmatch/meshmatch/cmd/confgen
