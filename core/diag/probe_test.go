package diag_test

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/diag"
)

// A probe reports that there are errors, at any place, and allocates nothing for
// the places of a value without errors.
func TestProbe(t *testing.T) {
	var sink diag.Sink
	probe := diag.Probe(&sink)
	places := func() *diag.At {
		return probe.Field("spec").Index(3).Name("to").Moving(func() []diag.Step { return nil })
	}
	if n := testing.AllocsPerRun(10, func() { places() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if sink.Failed() || places().Pos() != (diag.Position{}) {
		t.Error("a probe without errors has failed, or a position")
	}
	if places().Errorf("", "bad %d", 1); !sink.Failed() {
		t.Error("an error is not reported")
	}
}
