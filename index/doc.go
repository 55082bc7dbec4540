// Package index answers the question of policy matching over dense ids: which
// selectors do these terms satisfy, and in which order? It does not know what
// an id or a term means: the caller interns names and tag pairs, and everything
// here is a uint32.
//
// The data path of a caller:
//
//  1. [Interner] turns what is comparable (a tag pair, a name) into dense ids,
//     which the caller uses as [Term]s.
//  2. [TermIndex] takes selectors, each a conjunction of terms. Match gives the
//     selectors whose terms an item has: each distinct conjunction is filed
//     under its rarest term and verified on its others.
//  3. [Order] sorts what Match found by a precomputed rank instead of by
//     comparing names.
//  4. [Set] keeps ids: a sorted slice while they are few, a roaring bitmap
//     above.
//  5. [Vector] keeps whatever else the caller knows of an id, in versions that
//     share their pages, so that two of them are compared at the cost of what
//     differs.
//
// Invariants:
//
//   - A published value (Interner, TermIndex, Order, Set, Vector) never
//     changes. Any number of goroutines read it without a lock.
//   - A change goes through an editor made by Edit, which one goroutine uses at
//     a time. Commit publishes the next version; the editor may go on from
//     there. An editor that is dropped leaves no trace. Several editors of
//     one version do not see each other.
//   - Versions share all that did not change: an edit copies the pages that it
//     writes (see [Vector]), never the whole.
//   - The same sequence of edits gives the same ids, the same sets and the same
//     order of Match's result. No result depends on the order of a Go map or on
//     a hash seed.
//   - Ids and terms are dense: memory follows the largest one. Of numbers below
//     it that are not used an Order takes 4 bytes each, the others a pointer
//     for each 2,048 and whole pages of 32 elements where one of them is used.
package index
