// Package rulestest checks an order of policies: it is for tests of the orders of package
// semantics, and of those of other programs.
package rulestest
