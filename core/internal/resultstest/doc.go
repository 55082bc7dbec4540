// Package rulestest checks an order of policies. It is for the tests of package
// semantics, and for embedders that test an order of their own.
package resultstest
