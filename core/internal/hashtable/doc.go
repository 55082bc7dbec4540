// Package hashtable finds values by a hash and an equality that the caller
// computes. A [Table] is changed in place by one writer, unlike the persistent
// tables of package index. A [Weak] does not keep its values, and has many writers.
//
// It does not contain the keys of values, and computes no hash.
package hashtable
