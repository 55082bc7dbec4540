// Package check finds valid input without effect, or with an effect that its author
// probably did not intend (SPEC 10, 13.5).
//
//  1. [New] collects the distinct configs of each mesh, with and without the policies
//     that only inform. Each distinct config is examined once.
//  2. One file for each finding examines them: what is overridden or ignored, entries
//     that decide nothing, inbounds that are closed, open or unlike each other, names
//     that find nothing.
//
// An item or entry that has an effect in any config, with or without the policies that
// only inform, is not reported. A question about permissions that exceeds its limit is a
// finding too, never a guess.
package check
