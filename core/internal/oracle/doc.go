// Package oracle makes the generators of random meshes for the tests that compare a package
// with the reference.
package oracle
