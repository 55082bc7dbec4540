// Package matched has the lists of the policies that select dataplanes. Lists share pages.
//
//  1. [NewPager] makes a pager for one change. All pagers of a mesh have one seed.
//  2. [Pager.Matched] divides a list of policies into pages, after policies with certain hashes.
//     [Pager.After] does the same, and shares the pages of an earlier list.
//  3. [Pager.Replace] makes the next version of a list: it edits some pages, and keeps the others.
//
// Invariants:
//
//   - A [Matched] and a [Page] are immutable. Only the slots of a page are computed at the first
//     call of [Page.Slots].
//   - Where a page ends depends only on its own policies. So one different policy changes one page.
//   - Equal pages of one pager are one pointer. So a comparison of pointers skips equal pages.
//   - Two policies are equal if they are the same version: the same pointer, with the same inbounds.
package matched
