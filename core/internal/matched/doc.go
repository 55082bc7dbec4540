// Package matched has the lists of the policies that select dataplanes. Lists share pages.
package matched
