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
// and compares real runs. TestRatioIntervalsUnderNoise has smaller slowdowns under more noise.
func TestGateItself(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs test binaries")
	}
	binary := buildFixture(t)
	base := binary.costing(t, "steps 2000")
	for _, test := range []struct {
		name, cost string
		want       map[string]Verdict // those that are not Same
	}{
		{"an equal program passes", "steps 2000", nil},
		{"twice the time fails", "steps 4000", map[string]Verdict{"sec/op": Worse}},
		{"an allocation more fails", "slices 2", map[string]Verdict{"B/op": Worse, "allocs/op": Worse}},
		{"more work fails", "candidates 20", map[string]Verdict{"candidates/op": Worse}},
		{"another time in each process is inconclusive", "jitter 8", map[string]Verdict{"sec/op": Inconclusive}},
	} {
		t.Run(test.name, func(t *testing.T) {
			config := DefaultConfig(base)
			config.Head = binary.costing(t, test.cost)
			if test.want["sec/op"] == Inconclusive {
				config.Base = config.Head
			}
			config.Rounds, config.MaxRounds, config.BenchTime = MinRounds, MinRounds, "1ms"
			comparison, err := Run(context.Background(), config)
			if err != nil {
				t.Fatal(err)
			}
			checkVerdicts(t, comparison, test.want)
		})
	}
}

// checkVerdicts compares the verdicts of the fixture's only benchmark by unit.
func checkVerdicts(t *testing.T, c *Comparison, want map[string]Verdict) {
	t.Helper()
	fails := false
	for _, row := range c.Rows {
		verdict, ok := want[row.Unit.Name]
		if !ok {
			verdict = Same
		}
		fails = fails || verdict.fails()
		if row.Verdict != verdict {
			t.Errorf("%s is %s, want %s", row.Unit.Name, row.Verdict, verdict)
		}
	}
	if len(c.Rows) != 4 || c.OK() == fails {
		t.Errorf("%d measurements, want 4; the gate passes: %t, want %t", len(c.Rows), c.OK(), !fails)
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
