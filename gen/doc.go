// Package gen generates the code by which confs of policies are merged,
// compared, hashed and copied (SPEC 6), in three steps:
//
//  1. load: read the packages, from source, as if nothing had been generated
//     yet; find the root types, which have the line //confgen:conf in their doc
//     comment (package load);
//  2. build: find the rule for each field, and what is wrong, with positions
//     (packages build and ir);
//  3. emit: print one file of code and one of law tests for each package
//     (package emit).
//
// A package uses it with
//
//	//go:generate go run github.com/meshmatch/meshmatch/cmd/confgen
//
// in a module that has it as a tool, so that go mod tidy keeps what it needs,
//
//	go get -tool github.com/meshmatch/meshmatch/cmd/confgen
//
// and gets for each root type T, in zz_generated.conf.go:
//
//	func (*T) Equal(*T) bool
//	func (*T) Hash() uint64
//	func (*T) Clone() *T
//	type TMerger struct{ ... }
//	func (*TMerger) Fill(lower *T, item int) (complete bool)
//	func (*TMerger) Conf() *T
//	func (*TMerger) Origins(dst []int) []int
//	func (*TMerger) Leaves() iter.Seq2[string, int]
//	func (*TMerger) HidesBelow() // only of a type with a union: items that set nothing matter
//
// and in zz_generated.conf_test.go a test that calls package laws. The code
// imports the standard library and xxhash only.
//
// # Rules
//
// By the type of a field and its tag policyMerge:"...":
//
//	type                          tag                how it merges
//	*scalar, *[]E                                    replaced; nil is not set
//	[]E                                              replaced; nil is not set, empty resets
//	scalar                        omitzero           replaced; zero is not set
//	scalar                        replace            replaced; set whenever its struct is there
//	struct, *struct                                  field by field; nil is not set
//	[]E called Append..., or      concat             appended, lowest priority first
//	[]struct, []*struct           mergeValuesByKey   elements with equal keys merge, and stand
//	                                                 where the last of them stood
//	any, in such an element       mergeKey           the key, all such fields together
//	map[K]V, K a string                              by key: scalars and lists are replaced,
//	                                                 structs and *structs merge field by field
//	*struct with a field of tag   discriminator      a union: another discriminator, a string,
//	                                                 drops the arms collected so far; arms are
//	                                                 pointers or lists, and it may have keys
//	T or *T with methods of its own                  replaced; T needs the tag replace unless it
//	                                                 is a list, a map or a scalar
//
// A scalar is a bool, an integer, a floating-point number or a string, of any
// name and package. Structs may be of other packages if all their fields are
// exported. Below a list that is replaced or appended to nothing merges: its
// elements need no tags, and may be embedded in and contain one another. Only a
// discriminator may stand there: it says what the struct is.
//
// Methods of its own are Equal(T) or Equal(*T) bool, Hash() uint64 and Clone()
// of T or *T, all three, written by hand: they are called instead of generated
// ones. A type with only some of them is an error.
//
// Everything else is an error: interfaces, functions, channels, arrays,
// embedded structs and types that contain themselves where they would merge,
// generic types, unexported fields, fields without a name in JSON or with that
// of another one, a scalar without a tag, a tag that has no effect or a word
// that is unknown. So is an always replacing scalar in a struct that is always
// there: an empty conf would overwrite it, and the empty conf has to be the
// identity. Each error is file:line:column: Type.Field: what; hint, and all
// errors of a run are reported together.
//
// # Leaves and origins
//
// Confs are numbered; a larger number is a higher priority. A merger is filled
// from the highest to the lowest and remembers for each leaf the item that set
// it. Leaves are scalars, replaced lists, elements of lists that grow, entries
// of maps, and what is there with nothing in it: a struct behind a pointer, a
// list or a map (its item is the highest that has it). An element or entry in
// which several items set something is one leaf, of the highest of them, but
// all of them are origins.
//
// Nil elements of a list that merges by key and nil entries of a map are not
// set and left out; keys are compared as Equal does, so that a nil and an empty
// list are different keys. Merging a single conf brings it into this normal
// form.
//
// # Unions
//
// The result of a union is by definition the fold from the lowest conf: each
// conf with another discriminator drops what was collected. A merger sees
// confs one by one from the top and computes exactly that: the first conf from
// the top decides, the first one below with another discriminator closes the
// union. But over plain values this is not associative: in X, Y, X the lower X
// is dropped by Y, and merge(Y, X) no longer says that there was a Y. So the
// merge of the lowest items can stand for them, that of others can not.
// Elements with equal keys in one list count like those of confs one below the
// other.
//
// # Invariants
//
// The output depends on the source only: not on the order of maps, on what was
// generated before, on other packages of the run, or on the directory. Inputs
// of a merge are never written; a result shares with them scalars behind
// pointers and lists that were replaced, and nothing that a later merge
// writes. A merger is not copied, and after its last Fill it may be read
// concurrently for ever. Merging ten confs of the shape of MeshTimeout takes one
// allocation, the merger (BenchmarkMerge in package shapes).
package gen
