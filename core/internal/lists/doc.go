// Package lists maps and filters slices.
//
// The elements may be anything: the caller gives what is made of one, or which are kept.
package lists
