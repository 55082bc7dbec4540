// Package migrate finds what Kuma 3 reads differently from Kuma 2, and rewrites the
// documents for it (SPEC 17.5).
//
//  1. The findings of [Kuma3] name each part of a document that Kuma 3 refuses, ignores
//     or reads with another meaning (core/KUMA.md lists them).
//  2. A part is rewritten if Kuma 2 and Kuma 3 read the result in the same way: `from`
//     becomes `rules`, references by name or tags become references by labels.
//     Documents are edited as they are written, so that all other fields stay.
//  3. The rewritten documents are loaded, and the view of Kuma 3 is compared with the
//     view of Kuma 2: each conf, and each access decision ([diff.New]).
//
// Invariants:
//
//   - A rewritten document opens no inbound: permissions that would are left as they
//     are, with a finding.
//   - A rewrite by labels selects the same dataplanes, inbounds and destinations of the
//     input; otherwise the part is left as it is.
//   - The result depends on the documents alone, not on their order.
package migrate
