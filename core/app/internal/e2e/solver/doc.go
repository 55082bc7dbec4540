// Package solver has answers about permissions proven by a program of other authors: z3, which
// decides formulas over texts and regular expressions (SPEC 13.1).
//
//  1. A random mesh has permissions of small alphabets (mesh_test.go), with TLS and without.
//  2. Its decision is written as a formula over all requests, from the contract alone: the SPIFFE
//     ID, tags, server name, method, path and headers of a request are unknown texts
//     (formula_test.go, expression_test.go).
//  3. Each answer of `diff`, `reach` and `check`, as their JSON has it, becomes a question
//     whether some request contradicts it. The answer is right if there is none
//     (answers_test.go).
//
// No code is shared with the answers but the loader of documents and Go's parser of expressions.
package solver
