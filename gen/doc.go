// Package gen generates the code that merges and compares the confs of policies
// (SPEC 6). A package of confs contains the lines
//
//	//go:generate go tool confgen
//
//	//confgen:conf
//	type Conf struct { ... }
//
// and the generator is a tool of its module:
//
//	go get -tool github.com/meshmatch/meshmatch/cmd/confgen
//
// For each root type T, which has the directive //confgen:conf in its doc
// comment, zz_generated.conf.go then contains
//
//	func (*T) Equal(*T) bool
//	func (*T) Hash() uint64 // with //confgen:conf hash
//	func (*T) Clone() *T    // with //confgen:conf clone
//	func (*T) Schema() string // with //confgen:conf schema, in zz_generated.schema.go and .json
//	type tMerger struct{ ... }
//	func (*tMerger) Fill(lower *T, item int) (complete bool)
//	func (*tMerger) Conf() *T
//	func (*tMerger) Origins(dst []int) []int
//	func (*tMerger) Leaves() iter.Seq2[string, int]
//	func (*tMerger) HasUnion() // only if T contains a union
//
// and zz_generated.conf_test.go contains a test of the laws of merging (package laws).
//
// # Rules
//
// The type of a field and its tag policyMerge:"..." determine how it merges:
//
//	type                          tag                merge
//	*scalar, *[]E                                    replaced; nil is not set
//	*[]E with such a name or tag                     as such a list; nil is not set
//	[]E                                              replaced; nil is not set, empty resets
//	scalar                        omitzero           replaced; zero is not set
//	scalar                        replace            replaced; set if its struct is present
//	struct, *struct                                  field by field; nil is not set
//	[]E named Append..., or       concat             appended, lowest priority first
//	[]struct, []*struct           mergeValuesByKey   elements with equal keys merge, at the
//	                                                 place of the last of them
//	[]struct, []*struct           mergeValuesByKey,  likewise, but the elements of a higher
//	                              highestFirst       list are before those of a lower one
//	any, in such an element       mergeKey           the key: all such fields together
//	map[K]V, K a string                              by key: scalars and lists are replaced,
//	                                                 structs and *structs merge field by field
//	*struct with a field of tag   discriminator      a union: another value of this string field
//	                                                 drops the arms that were collected; arms
//	                                                 are pointers or lists
//	T or *T with its own Equal                       replaced; T needs the tag replace unless it
//	                                                 is a list, a map or a scalar
//
// A scalar is a bool, an integer, a floating-point number or a string of any type.
// Every field needs a name in JSON; json:"name,omitzero" makes it optional in files.
// Structs of other packages must have only exported fields. Elements of a list that is
// replaced or appended to do not merge: they need no policyMerge tags, except for a
// discriminator, and may contain themselves. The generated code calls a hand-written
// Equal(T) or Equal(*T) bool, and Hash and Clone if it needs them.
//
// Everything else is an error, with its position and a hint: interfaces, functions,
// channels, arrays, embedded structs, generic types, unexported fields, types that
// contain themselves, unknown tags and tags without effect. A scalar with the tag
// replace in a struct that is always present is also an error: an empty conf would
// overwrite it.
//
// # Leaves, origins and unions
//
// Confs are numbered; a larger number is a higher priority. A merger is filled
// from the highest to the lowest, and stores for each leaf the item that set it.
// Leaves are scalars, replaced lists, elements of lists that grow, entries of
// maps, and an empty struct, list or map that is present. An element or entry
// that several items set is one leaf. The leaf belongs to the highest of these
// items, but all of them are origins. Nil elements and nil entries are not set
// and are omitted.
//
// A union is by definition merged from the lowest conf: a conf with another
// discriminator drops the arms that were collected. This is not associative over
// values: in X, Y, X the Y drops the lower X, but merge(Y, X) no longer contains
// the Y. So the merge of the lowest items can replace them, but the merge of other
// items cannot.
//
// # Invariants
//
// The output depends only on the source. A merge never writes to its inputs. Its
// result shares with them only values that no later merge writes: the scalars to which
// pointers refer, and replaced lists. A merger must not be copied. After its last Fill
// it may be read concurrently. Merging ten confs of the shape of MeshTimeout allocates
// once (BenchmarkMerge in package shapes).
//
// # Schemas
//
// Schema returns an OpenAPI schema in the structural form that Kubernetes requires. A
// struct that is not a conf gets the method by the directive //confgen:schema. Limits
// that a Validate method checks are given by //confgen:openapi at a type or a field:
//
//	// Port is a TCP port.
//	//
//	//confgen:openapi {"minimum": 1, "maximum": 65535}
//	type Port uint32
//
// Package schema documents what follows from the types.
//
// The generator has three steps: package load reads the source as if no generated
// file existed, package build finds the rule of each field, package emit prints.
// Package schema makes the schemas. What all mergers have in common is package merge.
package gen
