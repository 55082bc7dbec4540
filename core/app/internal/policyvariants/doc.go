// Package policyvariants compiles the policies of a kind to variants for the outbounds to one service, and counts the
// dataplanes that each variant serves (SPEC 9.4). It is what `variants policies` and the Inspect API answer.
//
//  1. [Index.Ask] finds the service among the outbounds of the mesh.
//  2. Package variant compiles the policies of the view to variants, without the lock.
//  3. The Index updates the sets of inbounds to the view, and counts dataplanes with them.
//
// Invariants: an Index has the inbounds of one mesh and one view, which each call replaces. An answer depends on its
// view alone, not on earlier questions.
package policyvariants
