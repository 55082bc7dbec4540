package gate

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestGateItself builds the fixture, makes changes that the gate should detect,
// and compares real runs. It took 6 s on a machine with two cores.
func TestGateItself(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs test binaries")
	}
	binary := buildFixture(t)
	base := binary.costing(t, "steps 2000")
	for _, test := range []struct {
		name, cost string
		rounds     int
		benchTime  string
		// want contains the expected verdicts; every other measurement must not
		// fail.
		want map[string]Verdict
	}{
		{"an equal program passes", "steps 2000", MinRounds, "5ms", map[string]Verdict{"B/op": Same, "allocs/op": Same, "candidates/op": Same}},
		// Many short runs: some fit between two switches of a busy scheduler.
		{"twice the time fails", "steps 4000", 4 * MinRounds, "1ms", map[string]Verdict{"sec/op": Worse, "B/op": Same, "allocs/op": Same, "candidates/op": Same}},
		{"an allocation more fails", "slices 2", MinRounds, "5ms", map[string]Verdict{"B/op": Worse, "allocs/op": Worse, "candidates/op": Same}},
		{"more work fails", "candidates 20", MinRounds, "5ms", map[string]Verdict{"B/op": Same, "allocs/op": Same, "candidates/op": Worse}},
		{"another time in each process is inconclusive", "jitter 8", MinRounds, "1ms", map[string]Verdict{"sec/op": Inconclusive, "candidates/op": Same}},
	} {
		t.Run(test.name, func(t *testing.T) {
			config := DefaultConfig(base)
			config.Head = binary.costing(t, test.cost)
			if test.want["sec/op"] == Inconclusive {
				config.Base = config.Head
			}
			config.Rounds, config.MaxRounds, config.BenchTime = test.rounds, test.rounds, test.benchTime
			comparison, err := Run(context.Background(), config)
			if err != nil {
				t.Fatal(err)
			}
			checkVerdicts(t, comparison, test.want)
		})
	}
}

// A slowdown of 30 % never passes: if noise hides it, the comparison is
// inconclusive.
func TestSlowdownIsNotMissed(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs test binaries")
	}
	binary := buildFixture(t)
	config := DefaultConfig(binary.costing(t, "steps 20000"))
	config.Head = binary.costing(t, "steps 26000")
	config.Rounds, config.MaxRounds, config.BenchTime = 2*MinRounds, 2*MinRounds, "5ms"
	comparison, err := Run(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	if comparison.Result() == "pass" {
		var table strings.Builder
		_ = comparison.WriteTable(&table)
		t.Error(table.String())
	}
}

// checkVerdicts compares the verdicts of the fixture's only benchmark by unit.
// The time may be worse only if another measurement is, because an allocation
// also takes time.
func checkVerdicts(t *testing.T, c *Comparison, want map[string]Verdict) {
	t.Helper()
	got := map[string]Verdict{}
	for _, row := range c.Rows {
		got[row.Unit.Name] = row.Verdict
	}
	fails := false
	for unit, verdict := range want {
		fails = fails || verdict.fails()
		if got[unit] != verdict {
			t.Errorf("%s is %s, want %s", unit, got[unit], verdict)
		}
	}
	if !fails && got["sec/op"].fails() {
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

// A fixture is the path of the fixture's test binary.
type fixture string

func buildFixture(t *testing.T) fixture {
	t.Helper()
	dir := writeFixture(t, "steps", "steps")
	binary := filepath.Join(dir, "fixture.test")
	build := exec.Command("go", "test", "-c", "-o", binary, ".")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return fixture(binary)
}

// costing returns a link to the binary, beside a file that gives it another cost.
func (f fixture) costing(t *testing.T, cost string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fixture.test")
	if err := os.Link(string(f), path); err != nil {
		t.Fatal(err)
	}
	writeFile(t, path+".cost", cost, 0o644)
	return path
}
