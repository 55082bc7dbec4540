// Package diag describes the errors in the source of a package.
//
// It does not know what the generator checks.
package diag
