// Package variant serves one resource name in several variants, of which the
// dynamic parameters of a client choose one (xRFC TP2, SPEC 9).
//
// Definitions. The dynamic parameters of a client are a map from key to value
// ([Parameters]). A [Constraint] accepts some parameters. A variant is a
// content with a constraint. The parameters of a client select the variant
// whose constraint accepts them, so no parameters may be accepted by two
// variants of a name.
//
// The pipeline:
//
//  1. A constraint is read from a message ([FromProto]), from its JSON
//     ([Parse]) or from a document ([VariantsDocument]). What SPEC 9.1 forbids
//     is an error, and so is a constraint past the limits on size and depth.
//  2. [NewSet] admits the constraints of all variants of a name, or refuses
//     them with parameters that two of them accept. It combines them into one
//     decision diagram (package partition), and writes each in canonical form.
//  3. [Set.Choose] walks the diagram: one step for each key that matters.
//  4. A [Table] holds the sets of all names. A change replaces all variants of
//     a name and returns which came, went and changed; a change of parameters
//     finds the names whose variant is another one.
//
// [Compile] goes the other way: from fragments of a content, each with a
// constraint, to the fewest variants. Policies are such fragments:
// [PolicyCompiler] turns all policies of a kind for one destination into the
// variants of its effective conf.
//
// Invariants:
//
//   - Constraints, sets and tables are immutable and safe for concurrent use.
//   - A canonical form is a function of the accepted parameters and of the keys
//     of its set. Same input, same bytes.
//   - The cost of each call is bounded, whatever the constraints are: it ends
//     with a [*partition.LimitError] instead.
package variant
