// Package strict reads YAML and JSON so that nothing in the input is ignored
// and every complaint has a place.
//
// The pipeline:
//
//  1. [Chunks] cuts a file between documents, so that the pieces can be read
//     in parallel.
//  2. [Documents] builds the node tree of one document after the other, with
//     the line and column of every node and of what can not be parsed. Size, depth and alias expansion are
//     bounded by [Limits] before anything else looks at a tree, and by a count
//     of bytes before there is one. A document that can not be parsed does not
//     keep the others from being read.
//  3. [Decode] fills a Go value from a node. What the Go type does not
//     declare is an error: unknown and duplicate fields, wrong types, nulls,
//     tags, missing required fields, unknown enum words, union arms that do not
//     go with their type.
//  4. Types that implement [Validator] then check what a type alone can not
//     say, also of what was read only in part; they report through an [At],
//     which knows the place of every field.
//
// All complaints go to a [Sink] as [Diagnostic] values; decoding goes on
// after an error, so one run reports everything (SPEC 1.2).
//
// How a struct declares its fields:
//
//	json:"name"            the field's name; the field is required
//	json:"name,omitzero"   the field may be left out
//	alias:"otherName"      a second accepted spelling
//	policyMerge:"discriminator"
//	                       the field names the one arm that may be present
//
// Invariants: a decoded slice or map that is present in the input is never
// nil, so "not set" and "set to nothing" stay apart (SPEC 6); the package
// knows nothing of meshes and policies.
package strict
