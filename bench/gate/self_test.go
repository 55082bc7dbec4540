package gate

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestGateItself builds the fixture, makes it worse in the ways that the gate
// is there for, and lets the gate find out by real runs. It took 5 s on a
// machine with two cores, and up to 18 s with two busy loops beside it.
func TestGateItself(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs test binaries")
	}
	base := buildFixture(t, "steps", "steps")
	for _, test := range []struct {
		name, from, to string
		rounds         int
		benchTime      string
		// want are the verdicts that matter; every other measurement must not fail.
		want map[string]Verdict
	}{
		{"an equal program passes", "steps", "steps", MinRounds, "5ms", map[string]Verdict{"B/op": Same, "allocs/op": Same, "candidates/op": Same}},
		// Many short runs: some fit between two switches of a busy scheduler.
		{"twice the time fails", "= 2000", "= 4000", 4 * MinRounds, "1ms", map[string]Verdict{"sec/op": Worse, "B/op": Same, "allocs/op": Same, "candidates/op": Same}},
		{"an allocation more fails", "slices     = 1", "slices = 2", MinRounds, "5ms", map[string]Verdict{"B/op": Worse, "allocs/op": Worse, "candidates/op": Same}},
		{"more work fails", "= 19", "= 20", MinRounds, "5ms", map[string]Verdict{"B/op": Same, "allocs/op": Same, "candidates/op": Worse}},
	} {
		t.Run(test.name, func(t *testing.T) {
			config := DefaultConfig(base)
			config.Head = buildFixture(t, test.from, test.to)
			config.Rounds, config.BenchTime = test.rounds, test.benchTime
			comparison, err := Run(context.Background(), config)
			if err != nil {
				t.Fatal(err)
			}
			checkVerdicts(t, comparison, test.want)
		})
	}
}

// checkVerdicts compares the verdicts of the fixture's only benchmark by unit.
// The time may be worse only where that is wanted; an allocation takes time too.
func checkVerdicts(t *testing.T, c *Comparison, want map[string]Verdict) {
	t.Helper()
	got := map[string]Verdict{}
	for _, row := range c.Rows {
		got[row.Unit.Name] = row.Verdict
	}
	fails := false
	for unit, verdict := range want {
		fails = fails || verdict.Fails()
		if got[unit] != verdict {
			t.Errorf("%s is %s, want %s", unit, got[unit], verdict)
		}
	}
	if !fails && got["sec/op"].Fails() {
		t.Errorf("the time of an equal program is %s", got["sec/op"])
	}
	if c.OK() == fails {
		t.Errorf("the gate passes: %t, want %t", c.OK(), !fails)
	}
	if t.Failed() {
		var table strings.Builder
		_ = c.WriteTable(&table)
		t.Log(table.String())
	}
}

// buildFixture returns a test binary of the fixture.
func buildFixture(t *testing.T, from, to string) string {
	t.Helper()
	dir := writeFixture(t, from, to)
	binary := filepath.Join(dir, "fixture.test")
	build := exec.Command("go", "test", "-c", "-o", binary, ".")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return binary
}
