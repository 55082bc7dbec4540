// Package language searches for a text that some expressions match and others do not.
//
//  1. [Whole] and [Runs] compile an expression of package regex to a program that reads
//     bytes. Its deterministic states are made as a search reaches them.
//  2. A [Trie] divides all texts by the conditions that they meet, where these compare with
//     a value; [Trie.Like] is one of the parts.
//  3. [Shortest] walks through the product of all of them, breadth first, until it is in a
//     state that each of them wants, or has no state left.
//
// A search is exact. It takes at most as many steps as it is given, and returns
// [ErrTooLarge] if these do not suffice.
//
// What the languages hold grows with the searches, so they are for one goroutine.
package language
