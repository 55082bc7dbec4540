// Package merge is the part of generated mergers that depends on no conf (SPEC 6): the states of
// pointers, lists and maps, and what they are hashed with. Only generated code uses it.
//
// A merger is filled with confs from the highest priority to the lowest. A state is the progress
// of merging one part of a conf: for each leaf it has 1 + the item that set it, 0 for none. The
// state of a struct is generated; the states of this package contain such states. All have the
// same methods:
//
//	Fill     sets the leaves of a lower value that no previous value has set
//	Top      returns the highest of the items, 0 if no leaf is set
//	Origins  appends the items less 1 to dst[base:], which is ascending, each once
//	Leaves   yields the JSON pointer (RFC 6901) and the item less 1 of each leaf
//
// Invariants: nothing that is merged shares memory with a conf, except scalars and replaced
// lists; a struct, list or map that is present and has no leaf is itself a leaf.
package merge
