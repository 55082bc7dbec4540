// Package variant serves one resource name in several variants. The dynamic parameters
// of a client determine its variant (xRFC TP2, SPEC 9).
//
// Definitions. The dynamic parameters of a client are a map from key to value
// ([Parameters]). A [Constraint] accepts some parameters. A variant is a content with a
// constraint. A client gets the variant whose constraint accepts its parameters, so the
// constraints of two variants of a name must not accept the same parameters.
//
// The pipeline:
//
//  1. A constraint is read from a message ([FromProto]), from its JSON ([Constraint.DecodeAt]) or
//     from a document ([VariantsDocument]). A constraint that violates SPEC 9.1, or
//     exceeds the limits on size and depth, is an error.
//  2. [NewSet] accepts the constraints of all variants of a name, or refuses them with
//     parameters that two of them accept. It combines the constraints into one
//     decision diagram (package partition), and converts each to canonical form.
//  3. [ConstraintSet.Choose] walks the diagram: one step for each key that matters.
//
// [Compile] makes the minimum number of variants that are equivalent to given fragments of
// a content, each with a constraint. Policies are such fragments: [PolicyCompiler] turns
// all policies of a kind for one destination into the variants of its effective conf.
//
// Invariants:
//
//   - Constraints and sets are immutable and safe for concurrent use.
//   - A canonical form is a function of the accepted parameters and of the keys of its
//     set. The same input gives the same bytes.
//   - The cost of each call is bounded for all constraints. A call that would exceed the
//     bound returns a [*partition.LimitError].
package variant
