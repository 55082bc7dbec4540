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

// scripts returns a configuration that compares two shell scripts, and the
// file to which they log how they are called.
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
	config.Bench = "A|B"
	comparison, err := Run(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	if !comparison.OK() {
		t.Error("equal programs fail")
	}
	const args = " -test.run=^$ -test.bench=A|B -test.benchmem -test.cpu=2 -test.benchtime=5x"
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
			if got := comparison.Rows[0]; got.Verdict != test.want || comparison.OK() == test.want.Fails() {
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
		r := runner{Config{CPU: test.cpu}}
		if got := r.exactly(Benchmark{Name: test.name}); got != test.want {
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
