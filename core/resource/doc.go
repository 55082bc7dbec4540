// Package resource is the model: dataplanes, policies and meshes, the syntax of
// their documents, and their names.
//
// The pipeline:
//
//  1. [Loader.Load] reads files, directories and standard input, parses them
//     (package strict) and decodes each document in either of its two
//     spellings (SPEC 1.1).
//  2. Syntactic sugar is expanded (SPEC 2.3): after decoding, every targetRef
//     has a kind, and a policy of a kind with `rules` never has a `default`.
//  3. Everything is validated: the kinds of targetRefs, the arrays of a policy,
//     names and tags (SPEC 1.2, 2). All errors of all files are reported
//     together, with position, path and hint.
//  4. The result is a [Set]: resources sorted by identity.
//
// What to use:
//
//   - A program that reads documents: [Loader], [Set], [Kinds].
//   - A program that makes resources: [NewDataplane], [PolicyBuilder] (by the function New of
//     a kind's package), and targetRefs such as [WholeMesh] and [Service].
//   - The package of a kind: [Kind], [Section], [ConfOf], and sets of targetRefs such as
//     [TopTargets]. A Conf may have the methods ValidateMatches (fields that cannot depend on
//     a match) and ValidatePlace (fields that some policies do not allow); those of Kuma's
//     kinds are WithSchemaDefaults, InKuma and InKuma3.
//   - Everything else is for reading resources.
//
// A [Kind] value describes a policy kind. The kind's package makes it from its
// Conf types and their generated code. The loader gets a [Kinds] with all
// kinds. There is no global registry, and an embedder's kind is made exactly
// like the built-in kinds.
//
// Invariants: resources are immutable once decoded and may be shared by any
// number of readers; a [Tags] value is sorted by key and has each key once.
package resource

//go:generate go run github.com/meshmatch/meshmatch/cmd/confgen
