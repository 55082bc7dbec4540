// Package envoyapi contains the types of Envoy's API, with all extensions,
// for programs that link only a few of them.
//
// A resource of Envoy has the config of an extension in a google.protobuf.Any, with the
// URL of its type. To read, check or print it, its descriptor is needed. The generated
// Go code of all extensions would add 16 MB to a binary of 49 MB and 6 ms to its start.
// So the descriptors alone are embedded, as one compressed FileDescriptorSet of 140 KB.
// They are read when a caller needs a type that the program does not link:
//
//  1. A type that is linked is found in [protoregistry.GlobalTypes].
//  2. Otherwise the set is decompressed, once, and the file of the type and the files
//     that it imports are added to a registry. A file that is linked is taken from
//     [protoregistry.GlobalFiles].
//  3. The type is a [dynamicpb.Message] of that descriptor.
//
// [Check] compares a resource that a policy contains as text with its type.
//
// Invariants:
//
//   - [Types] is safe for concurrent use, and holds no state of a caller.
//   - The set belongs to the modules in go.mod; a test compares them. `go generate`
//     writes it.
//   - The package does not depend on policies, nor on how resources are built.
package envoyapi

//go:generate go run ./internal/generate zz_generated.descriptors.binpb.gz zz_generated.additions.txt 1.35 1.36 1.37 1.38 1.39 1.40
