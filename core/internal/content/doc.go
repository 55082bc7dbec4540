// Package content encodes and compares the content of resources. Two sides of a comparison are often
// read from different files, so positions are no content.
//
// [Encode] returns the JSON of a value, and [Tree] the same decoded. [Differ] compares two values by
// their JSON: first the bytes and, if these differ, the decoded trees without positions.
//
// Invariants: no value is changed or kept. A value that cannot be encoded differs from all values.
package content
