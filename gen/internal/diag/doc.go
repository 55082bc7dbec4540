// Package diag describes the errors in the source of a package.
//
// It does not depend on the checks of the generator.
package diag
