// Package index matches selectors over dense ids: it finds the selectors that the
// terms of an item satisfy, and sorts them. Ids and terms have no meaning here.
// The caller interns names and tag pairs; every value in this package is a uint32.
//
// A caller uses these types:
//
//  1. [Interner] maps comparable values (tag pairs, names) to dense ids, which the
//     caller uses as [Term]s.
//  2. [TermIndex] contains selectors, each a conjunction of terms. Match returns
//     the selectors whose terms an item has: each distinct conjunction is filed
//     under its rarest term and verified on its other terms.
//  3. [Order] sorts the result of Match by a precomputed rank instead of by
//     comparing names.
//  4. [Set] is a set of ids: a small set is a sorted slice, a large one a
//     roaring bitmap.
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
//   - Versions share everything that did not change: an edit copies the pages
//     that it writes (see [Vector]), never all pages.
//   - The same sequence of edits gives the same ids, the same sets and the same
//     order of Match's result. No result depends on the order of a Go map or on
//     a hash seed.
//   - Memory is proportional to the largest id or term, so ids and terms must be
//     dense. An unused number below the largest costs 4 bytes in an Order. In the
//     other structures, 2,048 unused numbers cost one pointer, and a page of 32
//     elements is allocated when one of them is used.
package index
