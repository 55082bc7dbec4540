// Package index does policy matching over dense ids: it finds the selectors that
// given terms satisfy, and their order. Ids and terms have no meaning here: the
// caller interns names and tag pairs, and every value in this package is a uint32.
//
// The data path of a caller:
//
//  1. [Interner] maps comparable values (tag pairs, names) to dense ids, which the
//     caller uses as [Term]s.
//  2. [TermIndex] contains selectors, each a conjunction of terms. Match returns
//     the selectors whose terms an item has: each distinct conjunction is filed
//     under its rarest term and verified on its others.
//  3. [Order] sorts the result of Match by a precomputed rank instead of by
//     comparing names.
//  4. [Set] is a set of ids: a sorted slice if they are few, otherwise a roaring
//     bitmap.
//  5. [Vector] stores other data by id, in versions that share their pages. The
//     cost of comparing two versions is proportional to their difference.
//
// Invariants:
//
//   - A published value (Interner, TermIndex, Order, Set, Vector) never
//     changes. Any number of goroutines read it without a lock.
//   - A change goes through an editor made by Edit, which one goroutine uses at
//     a time. Commit publishes the next version; the editor may continue from
//     it. An editor that is dropped has no effect. Several editors of one version
//     are independent.
//   - Versions share all that did not change: an edit copies the pages that it
//     writes (see [Vector]), never all pages.
//   - The same sequence of edits gives the same ids, the same sets and the same
//     order of Match's result. No result depends on the order of a Go map or on
//     a hash seed.
//   - Memory is proportional to the largest id or term, so these are dense. An
//     unused number below it costs 4 bytes in an Order. In the other structures
//     2,048 unused numbers cost one pointer, and a page of 32 elements is allocated
//     if one of them is used.
package index
