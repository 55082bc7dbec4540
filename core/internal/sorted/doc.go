// Package sorted compares sorted slices.
//
// The elements may be anything: the caller gives the order.
package sorted
