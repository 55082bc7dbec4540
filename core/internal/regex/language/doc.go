// Package language searches for a text that some expressions match and others do not.
//
//  1. [Whole], [Runs] and [Denial] compile an expression of package regex to a program that reads
//     bytes. A search makes its deterministic states on demand.
//  2. A [Trie] divides all texts by the conditions that they meet, for conditions that
//     compare with a value. [Trie.Like] returns one of the parts.
//  3. [Shortest] walks breadth-first through the product of all languages, until it
//     reaches a state that meets all of them, or has no state left.
//
// A search is exact. It takes at most the given number of steps, and returns
// [ErrTooLarge] if they do not suffice.
//
// Searches add states to languages, so only one goroutine may use a language.
package language
