// Package ir describes a package for the generator: the root types, how each
// field merges, and the structure of the values. Package build makes it from
// go/types, and package emit prints it without go/types.
package ir
