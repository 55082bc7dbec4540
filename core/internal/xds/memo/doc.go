// Package memo keeps what translators make of inputs that many dataplanes share.
//
// [Once] returns the value of a key, and makes it if there is none. [Weakly] does the same, but
// the garbage collector frees a value that no caller uses.
//
// Invariants:
//
//   - A value is a function of its key, so it does not matter which caller made it.
//   - A type of key has one type of value, and is used by Once or by Weakly, not by both.
//   - A value is never changed. A key is kept as long as the memo.
package memo
