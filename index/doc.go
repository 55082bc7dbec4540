// Package index answers the two questions of policy matching over dense ids:
// which selectors do these terms satisfy, and which ids have all these terms?
// It does not know what an id or a term means: the caller interns names and
// tag pairs, and everything here is a uint32.
//
// The data path of a caller:
//
//  1. [Interner] turns what is comparable (a tag pair, a name) into dense ids,
//     which the caller uses as [Term]s.
//  2. [TermIndex] takes selectors, each a conjunction of terms. Match gives the
//     selectors whose terms an item has: each distinct conjunction is filed
//     under its rarest term and verified on its others.
//  3. [Postings] takes ids with their terms. Intersect gives the ids that have
//     all of some terms: what a changed selector touches.
//  4. [Set] is what both keep and give: a sorted slice while it is small, a
//     roaring bitmap above.
//  5. [Order] sorts what Match found by a precomputed rank instead of by
//     comparing names.
//  6. [Vector] keeps whatever else the caller knows of an id, in versions that
//     share their pages, so that two of them are compared at the cost of what
//     differs.
//
// Invariants:
//
//   - A published value (Set, Interner, Postings, TermIndex, Order, Vector) never
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
//   - Ids and terms are dense: memory follows the largest one, at 4 to 40 bytes
//     per unused number below it.
package index
