// Package strict decodes YAML and JSON into Go structs. Nothing in the input is
// ignored, and every error has a position, a path and a hint (SPEC 1.2).
//
// # Pipeline
//
//  1. [Chunks] splits a file between documents, so that a [Reader] for each
//     piece can read them in parallel.
//  2. The reader checks the syntax of each document and the [Limits]: size,
//     depth and expansion of aliases. It makes a flat list of the values of JSON, and of
//     YAML in the forms that programs and people usually write (block.go). Other YAML is
//     parsed by a library, and its tree becomes such a list (yaml_node.go).
//     A document that cannot be parsed is reported and does not affect the
//     others.
//  3. [Decode] fills a Go value from a [Value], a part of a document. It reports
//     everything that the Go type does not declare: unknown and duplicate
//     fields, wrong types, nulls, tags, missing required fields, unknown words,
//     and arms of a union that do not match its type.
//  4. Types that implement [Validator] check further conditions, even if a part
//     of the value has errors.
//
// All errors go to a [diag.Sink], and decoding continues after an error, so
// that one run reports all of them. [Validate] performs the checks of steps 3
// and 4 for values that were made in Go.
//
// # Two languages, one decoder
//
// The decoder reads the list of values, so JSON and YAML have the same errors. The reader of
// JSON also accepts JSON that is not valid YAML, such as JSON with tabs. Like YAML 1.1, the
// parser of YAML treats U+0085, U+2028 and U+2029 as line breaks. Plain scalars have the
// types of YAML 1.2's core schema: 017 is the number 17, yes is a string.
//
// Reading JSON, or usual YAML, allocates little more than the decoded
// values: the list has the offsets of the values in the text. Only an error needs a
// position, which is found from the path of the value (see [Document.Locate]). So only
// documents with errors pay for positions.
//
// # Structs
//
//	json:"name"            the name of the field, which is required
//	json:"name,omitzero"   the field may be absent
//	alias:"otherName"      a second accepted spelling
//	policyMerge:"discriminator"
//	                       the field contains the name of the only arm that may be present
//
// # Invariants
//
//   - A list or mapping that is present in the input is not nil, so that "not
//     set" and "set to an empty value" differ (SPEC 6).
//   - Decoded values do not refer to the text of the file. Equal strings of a
//     load are one string ([Strings]).
//   - The result does not depend on how a file was split.
package strict
