// Package random makes random confs for tests, with gofuzz from a fixed seed. Strings
// and numbers come from alphabets so small that different confs often have the same
// keys, map entries and union types.
//
// It does not know how confs are merged.
package random
