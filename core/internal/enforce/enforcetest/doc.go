// Package enforcetest makes random placements, bindings and policies for tests of
// enforcement.
//
// Its results depend only on the source of random numbers. It does not depend on the
// confs of kinds.
package enforcetest
