package gate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// dump prints results one line per series.
func dump(r *Results) []string {
	var lines []string
	for _, b := range r.benchmarks {
		for _, unit := range r.unitsOf(b) {
			lines = append(lines, fmt.Sprintf("%s.%s %s %v", b.Package, b.Name, unit, r.sample(b, unit, DefaultLimits().thresholds()).Values))
		}
	}
	return lines
}

func TestLoad(t *testing.T) {
	for _, test := range []struct {
		name, output, filter string
		want                 []string
	}{
		{
			name:   "units are tidied, even those of a zero",
			output: "pkg: p\nBenchmarkA-2 10 1500 ns/op 0 wait-ns/op 2.5 MB/s\n",
			want:   []string{"p.A-2 sec/op [1.5e-06]", "p.A-2 wait-sec/op [0]", "p.A-2 B/s [2.5e+06]"},
		},
		{
			name:   "repeated runs are one series, packages are apart",
			output: "pkg: p\nBenchmarkA-2 10 3 x/op\nBenchmarkA-2 10 2 x/op\npkg: q\nBenchmarkA-2 10 5 x/op\n",
			want:   []string{"p.A-2 x/op [2 3]", "q.A-2 x/op [5]"},
		},
		{
			name:   "benchmarks keep the order of the output",
			output: "BenchmarkZ 1 1 x\nBenchmarkA 1 1 x\n",
			want:   []string{".Z x [1]", ".A x [1]"},
		},
		{
			name:   "other lines are ignored",
			output: "=== RUN BenchmarkA\nBenchmarkA\nBenchmarkA 1 1 x\n    a_test.go:9: FAILED is a word of a log\nPASS\nok p 1s\n",
			want:   []string{".A x [1]"},
		},
		{
			name:   "a filter keeps benchmarks",
			output: "BenchmarkA/impl=fast 1 1 x\nBenchmarkA/impl=naive 1 1 x\n",
			filter: "/impl:fast",
			want:   []string{".A/impl=fast x [1]"},
		},
		{
			name:   "a filter keeps units",
			output: "BenchmarkA 1 5 ns/op 3 allocs/op\n",
			filter: "-.unit:sec/op",
			want:   []string{".A allocs/op [3]"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			results, err := Load(strings.NewReader(test.output), "out", test.filter)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, dump(results)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestLoadRefuses(t *testing.T) {
	for _, test := range []struct{ name, output, filter, want string }{
		{"a benchmark that failed", "BenchmarkA 1 1 x\n--- FAIL: BenchmarkB\n    b_test.go:3: wrong\nFAIL\n", "", "out:2:1: the benchmarks failed: --- FAIL: BenchmarkB"},
		{"a package that failed", "BenchmarkA 1 1 x\nFAIL\tp\t0.1s\n", "", "out:2:1: the benchmarks failed: FAIL\tp\t0.1s"},
		{"a panic", "BenchmarkA 1 1 x\npanic: no\n", "", "out:2:1: the benchmarks failed: panic: no"},
		{"a result with a log in it", "BenchmarkA 1 1 x\nBenchmarkB \tlogged\n", "", "out:2:1: parsing iteration count: invalid syntax; is the output of a benchmark mixed with its log?"},
		{"a count divided by none", "pkg: p\nBenchmarkA-2 1 1 x NaN hits/op\n", "", "out:2:1: A-2 measured NaN hits/op, which is over no limit; does it divide by zero?"},
		{"a filter that is none", "BenchmarkA 1 1 x\n", "(", "filter \"(\": syntax error:"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Load(strings.NewReader(test.output), "out", test.filter)
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("got error %v, want %s", err, test.want)
			}
		})
	}
}

func TestLoaderGathersRuns(t *testing.T) {
	l, err := newLoader("")
	if err != nil {
		t.Fatal(err)
	}
	// The unit line of the first run also applies to the second.
	for _, output := range []string{
		"Unit hits better=higher\ngoos: linux\ncpu: a\nBenchmarkA 1 7 hits\n",
		"goos: linux\ncpu: b\nBenchmarkA 1 6 hits\n",
	} {
		if err := l.add(strings.NewReader(output), "run"); err != nil {
			t.Fatal(err)
		}
	}
	results := l.results()
	if diff := cmp.Diff([]string{".A hits [6 7]"}, dump(results)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if !results.Unit("hits").HigherIsBetter {
		t.Error("the unit line is not used")
	}
	if mixed := results.mixed; !slices.Equal(mixed, []string{"cpu"}) {
		t.Errorf("mixed machines differ in %v, want cpu", mixed)
	}
}
