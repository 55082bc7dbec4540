// Package sorted compares sorted slices.
//
// It does not know what the elements are: the caller gives the order.
package sorted
