package diag_test

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/diag"
)

// A prober reports that there are errors at any place, and allocates nothing for
// the places of a value without errors.
func TestProber(t *testing.T) {
	var prober diag.Prober
	within := func(at *diag.At) *diag.At {
		return at.Field("spec").Index(3).Name("to").Moving(nil)
	}
	fine := func(at *diag.At) { within(at) }
	if prober.Fails(fine) {
		t.Error("fails without errors")
	}
	if n := testing.AllocsPerRun(10, func() { prober.Fails(fine) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if prober.Fails(func(at *diag.At) { within(at).Warnf(diag.LikelyMistake, "", "odd") }) {
		t.Error("fails with a warning alone")
	}
	if !prober.Fails(func(at *diag.At) { within(at).Errorf(diag.BadValue, "", "bad %d", 1) }) {
		t.Error("an error is not reported")
	}
	if prober.Fails(fine) {
		t.Error("fails because of an error of an earlier validation")
	}
}
