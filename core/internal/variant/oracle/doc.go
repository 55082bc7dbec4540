// Package oracle has the tests that compare package variant with a reference for constraints,
// sets of variants and compiled fragments (SPEC 9). They compare the variants of policies with
// the engine and with package naive (SPEC 12.4). It has no code but tests.
//
// The reference evaluates constraints for each combination of the parameters that they
// distinguish.
package oracle
