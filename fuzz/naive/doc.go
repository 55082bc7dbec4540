// Package naive is the contract in plain Go: what every dataplane gets,
// computed the way SPEC.md says it, one sentence after the other. It has no
// index, no cache and no generated code, costs whatever it costs, and shares
// nothing with the fast path but the decoded resources; so a result on which
// both agree was reached twice.
//
// The pipeline:
//
//  1. Every policy of the mesh is asked whether its targetRef selects the
//     dataplane, and which inbounds (SPEC 2.2); those that do are ordered
//     (SPEC 3).
//  2. For each outbound, route, inbound rule, client or `default`, the items
//     that select it are listed in that order (SPEC 4, 5.1, 7.1).
//  3. Each conf becomes a tree: what the Go type says of a field, nil for not
//     set, and the item on every node. The trees are folded from the lowest
//     priority to the highest (SPEC 6), and the nodes that are left know who
//     set them.
//  4. The answers are JSON trees as SPEC 10 prints them: map[string]any,
//     []any, string, bool, int and json.Number.
//
// Invariants: nothing of the input is changed; the package imports the model
// and the shared field types only, and reads their fields: what a method of
// theirs could decide is decided here again.
//
// The rule views (SPEC 4.5, 5.3) are not here: SPEC 4.2 and 5.1 are their
// meaning, and a [Concatenation] answers that for one outbound or client at a
// time. Nor are decoding (SPEC 1), bindings (8: a policy informs by its label
// alone) and constraints (9).
package naive
