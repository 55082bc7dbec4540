// Package each makes slices of what other slices have.
//
// The elements may be anything: the caller gives what is made of one, or which are kept.
package each
