// Package random makes random confs for tests, with gofuzz from a fixed seed. Strings
// and numbers come from small alphabets, so that different confs often have the same
// keys, map entries and union types.
//
// It does not depend on how confs are merged.
package random
