// Package hashtable finds values by a hash and an equality that the caller
// computes. Its table is changed in place by one writer, unlike the persistent
// tables of package index.
//
// It does not contain the keys of values, and computes no hash.
package hashtable
