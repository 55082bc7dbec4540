// Package weakcache contains a cache that keeps nothing alive.
// It does not depend on what the keys and values are.
//
// [Cache.Get] returns the value of a key, or makes it without the lock. A cleanup removes the
// entry of a value after the value was freed.
//
// Invariants:
//
//   - A key has one value at a time: if two callers make it, both get the first one.
//   - The cache keeps no value, and no value keeps the cache. A key lives as long as its value.
package weakcache
