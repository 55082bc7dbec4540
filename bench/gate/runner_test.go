package gate

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// answer is a script's output of one benchmark.
const answer = "echo 'BenchmarkA/n=1-2 100 %s ns/op 3 allocs/op'\necho 'BenchmarkB-2 100 50 ns/op 3 allocs/op'\n"

// scripts returns a configuration that compares two shell scripts, and the file
// to which they log their calls.
func scripts(t *testing.T, base, head string) (Config, string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	config := DefaultConfig(writeScript(t, dir, "base", log, base))
	config.Head = writeScript(t, dir, "head", log, head)
	config.CPU = 2
	return config, log
}

func readLog(t *testing.T, log string) []string {
	t.Helper()
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

func TestRunsTakeTurns(t *testing.T) {
	text := strings.ReplaceAll(answer, "%s", "100")
	config, log := scripts(t, text, text)
	config.BenchTime = "5x"
	config.Bench, config.Skip = "A|B", "n=2"
	comparison, err := Run(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	if !comparison.OK() {
		t.Error("equal programs fail")
	}
	const args = " -test.run=^$ -test.bench=A|B -test.benchmem -test.cpu=2 -test.skip=n=2 -test.benchtime=5x"
	want := strings.Repeat("base"+args+"\nhead"+args+"\nhead"+args+"\nbase"+args+"\n", MinRounds/2)
	if got := strings.Join(readLog(t, log), "\n") + "\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestSuspectsRunAgainAlone(t *testing.T) {
	for _, test := range []struct {
		name   string
		second string // the head's time in the second round
		want   Verdict
	}{
		{"and are confirmed", "200", Worse},
		{"and are cleared", "100", Cleared},
	} {
		t.Run(test.name, func(t *testing.T) {
			config, log := scripts(t, strings.ReplaceAll(answer, "%s", "100"),
				`case "$*" in *n=1*) time=`+test.second+`;; *) time=200;; esac
`+strings.ReplaceAll(strings.ReplaceAll(answer, "'", `"`), "%s", "$time"))
			comparison, err := Run(context.Background(), config)
			if err != nil {
				t.Fatal(err)
			}
			if got := comparison.Rows[0]; got.Verdict != test.want || comparison.OK() == test.want.fails() {
				t.Errorf("got %+v, passes %t", got, comparison.OK())
			}
			calls := readLog(t, log)
			if len(calls) != 4*MinRounds {
				t.Fatalf("%d runs, want two rounds of %d", len(calls), 2*MinRounds)
			}
			const exactly = "-test.bench=^BenchmarkA$/^n=1$ "
			for i, call := range calls {
				if second := i >= 2*MinRounds; strings.Contains(call, exactly) != second {
					t.Errorf("run %d: %s", i, call)
				}
			}
		})
	}
}

// noisy is a script that measures from 100 to 1000 ns in its first runs, and
// 100 ns after that.
func noisy(t *testing.T, runs string) string {
	count := filepath.Join(t.TempDir(), "count")
	return `n=$(cat '` + count + `' 2>/dev/null || echo 0); echo $((n+1)) >'` + count + `'
time=100; test $n -lt ` + runs + ` && time=$((100 + n*7%10*100))
` + strings.ReplaceAll(strings.ReplaceAll(answer, "'", `"`), "%s", "$time")
}

func TestInconclusiveRunsAgainAlone(t *testing.T) {
	for _, test := range []struct {
		name   string
		noisy  string // runs of each side
		max    int
		failOn []Verdict
		want   Verdict
		runs   int // of each side
		result string
	}{
		{"until it is conclusive", "10", 50, nil, Same, 20, "pass"},
		{"up to the limit", "999", 20, nil, Inconclusive, 20, "inconclusive"},
		{"up to five times the rounds by default", "999", 0, nil, Inconclusive, 50, "inconclusive"},
		{"and fails on demand", "999", 10, []Verdict{Inconclusive}, Inconclusive, 10, "fail"},
	} {
		t.Run(test.name, func(t *testing.T) {
			config, log := scripts(t, noisy(t, test.noisy), noisy(t, test.noisy))
			config.BenchTime, config.MaxRounds, config.FailOn = "100x", test.max, test.failOn
			comparison, err := Run(context.Background(), config)
			if err != nil {
				t.Fatal(err)
			}
			if got := comparison.Rows[0]; got.Verdict != test.want {
				t.Errorf("got %+v", got)
			}
			if got := comparison.Result(); got != test.result || comparison.OK() == (got == "fail") {
				t.Errorf("the result is %s, want %s", got, test.result)
			}
			calls := readLog(t, log)
			if len(calls) != 2*test.runs {
				t.Fatalf("%d runs, want %d", len(calls), 2*test.runs)
			}
			for i, call := range calls {
				if alone := i >= 2*MinRounds; strings.Contains(call, "-test.bench=^BenchmarkA$/^n=1$ ") != alone {
					t.Errorf("run %d: %s", i, call)
				}
			}
		})
	}
}

// TestInconclusiveRunsAreShortened: long runs that are too noisy are followed by short ones, of
// the noisy benchmark alone. Only these decide.
func TestInconclusiveRunsAreShortened(t *testing.T) {
	for _, test := range []struct {
		name, benchtime, noisy string
		long, short            int // runs of each side
		want                   Verdict
	}{
		{"until it is conclusive", "200ms", "10", 10, 30, Same},
		{"up to the limit", "200ms", "999", 10, 50, Inconclusive},
		{"of the default time", "", "10", 10, 30, Same},
		{"short ones go on", "1ms", "10", 20, 0, Same},
		{"nothing is noisy", "200ms", "0", 10, 0, Same},
	} {
		t.Run(test.name, func(t *testing.T) {
			config, log := scripts(t, noisy(t, test.noisy), noisy(t, test.noisy))
			config.BenchTime, config.MaxRounds = test.benchtime, 50
			comparison, err := Run(context.Background(), config)
			if err != nil {
				t.Fatal(err)
			}
			if got := comparison.Rows[0]; got.Verdict != test.want || strings.Contains(got.Reason, "worse") {
				t.Errorf("got %+v", got)
			}
			calls := readLog(t, log)
			if want := 2 * (test.long + test.short); want != len(calls) && test.want != Inconclusive || len(calls) < want {
				t.Fatalf("%d runs, want %d", len(calls), want)
			}
			for i, call := range calls {
				if got := strings.Contains(call, "-test.benchtime=1ms"); got != (i >= 2*test.long || test.benchtime == "1ms") {
					t.Errorf("run %d: %s", i, call)
				}
			}
		})
	}
}

// A benchmark that has moved to a separate package runs as often as others, and
// is confirmed under both names.
func TestRenamedRunsInBothPackages(t *testing.T) {
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	output := func(pkg, name, time string) string {
		return "echo 'pkg: m/" + pkg + "'\necho 'Benchmark" + name + "-2 100 " + time + " ns/op'\n"
	}
	script := func(name, pkg, body string) program {
		return program{Package: "m/" + pkg, Path: writeScript(t, dir, name, log, body), Dir: dir}
	}
	base := side{programs: []program{script("base-old", "old", output("old", "A", "100"))}}
	head := side{programs: []program{
		script("head-new", "new", output("new", "B", "200")),
		script("head-other", "other", output("other", "C", "100")),
	}}
	jobs, err := pair(base, head, ".")
	if err != nil {
		t.Fatal(err)
	}
	config := DefaultConfig("")
	config.CPU, config.Renames = 2, renameList{{"old", "A", "new", "B"}}
	rows, err := compareRuns(context.Background(), config, jobs)
	if err != nil {
		t.Fatal(err)
	}
	if got := rows[0]; got.Verdict != Worse || got.Former != (benchmarkID{"m/old", "A-2"}) {
		t.Errorf("got %+v", got)
	}
	if got := rows[1]; got.Verdict != New {
		t.Errorf("got %+v", got)
	}
	calls := strings.Join(readLog(t, log), "\n")
	for what, want := range map[string]int{
		"base-old": 2 * MinRounds, "head-new": 2 * MinRounds, "head-other": 1,
		"bench=^BenchmarkA$ ": MinRounds, "bench=^BenchmarkB$ ": MinRounds,
	} {
		if got := strings.Count(calls, what); got != want {
			t.Errorf("%s occurs %d times, want %d", what, got, want)
		}
	}
}

func TestRunRefuses(t *testing.T) {
	ok := strings.ReplaceAll(answer, "%s", "100")
	for _, test := range []struct{ name, base, head, want string }{
		{"a program that fails", ok, "echo '--- FAIL: BenchmarkA'; exit 1", "head: "},
		{"failed benchmarks of a program that hides it", ok, ok + "echo '--- FAIL: BenchmarkA'", "head:3:1: the benchmarks failed"},
		{"a base that fails", "echo no >&2; exit 3", ok, "exit status 3\n\tno"},
		{"a head without benchmarks", ok, "", `no benchmark of the head matches "."`},
	} {
		t.Run(test.name, func(t *testing.T) {
			config, _ := scripts(t, test.base, test.head)
			_, err := Run(context.Background(), config)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want %s", err, test.want)
			}
		})
	}
}

func TestExactly(t *testing.T) {
	for _, test := range []struct {
		name string
		cpu  int
		want string
	}{
		{"From/keys=20-2", 2, `^BenchmarkFrom$/^keys=20$`},
		{"From/svc-2", 1, `^BenchmarkFrom$/^svc-2$`},
		{"From/a+b#01-2", 2, `^BenchmarkFrom$/^a\+b#01$`},
	} {
		m := measurement{config: Config{CPU: test.cpu}}
		if got := m.exactly(benchmarkID{Name: test.name}); got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
}

func TestRunNamesTheFilterThatKeepsNothing(t *testing.T) {
	text := strings.ReplaceAll(answer, "%s", "100")
	config, _ := scripts(t, text, text)
	config.Filter = ".unit:alloc/op"
	const want = `no measurement of the head's benchmarks "." is kept by the filter ".unit:alloc/op"`
	if _, err := Run(context.Background(), config); err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
}
