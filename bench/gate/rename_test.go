package gate

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseRenamesRefuses(t *testing.T) {
	_, err := ParseRenames(strings.NewReader("# moved\nbench A -> core B\nbench A core B\n  bench A ->\n"), "renames")
	const want = "renames:3:1: not a rename; write: PACKAGE BENCHMARK -> PACKAGE BENCHMARK\nrenames:4:3: not a rename; write: PACKAGE BENCHMARK -> PACKAGE BENCHMARK"
	if err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
}

func TestRenamed(t *testing.T) {
	renames, err := ParseRenames(strings.NewReader("bench BenchmarkSelect -> core/match Pick # moved\nbench To -> core/results To\n"), "renames")
	if err != nil {
		t.Fatal(err)
	}
	load := func(lines ...string) *Results {
		results, err := Load(strings.NewReader(strings.Join(lines, "\n")+"\n"), "out", "")
		if err != nil {
			t.Fatal(err)
		}
		return results
	}
	for _, test := range []struct {
		name       string
		base, head string // the name of one benchmark, as PACKAGE NAME
		want       string // the base's benchmark after renaming
	}{
		{"another package and name", "m/bench Select-2", "m/core/match Pick-2", "m/core/match Pick-2"},
		{"a benchmark below it", "m/bench Select/n=1-2", "m/core/match Pick/n=1-2", "m/core/match Pick/n=1-2"},
		{"a name that only begins alike", "m/bench SelectAll-2", "m/core/match PickAll-2", "m/bench SelectAll-2"},
		{"a package that only ends alike", "m/otherbench To-2", "m/core/rules To-2", "m/otherbench To-2"},
		{"the head has the former name", "m/bench To-2", "m/bench To-2", "m/bench To-2"},
		{"the head has neither name", "m/bench To-2", "m/core/rules Other-2", "m/bench To-2"},
	} {
		t.Run(test.name, func(t *testing.T) {
			output := func(benchmark string) *Results {
				pkg, name, _ := strings.Cut(benchmark, " ")
				return load("pkg: "+pkg, "Benchmark"+name+" 1 7 x")
			}
			got, former := output(test.base).renamed(renames, output(test.head))
			if diff := cmp.Diff([]string{strings.Replace(test.want, " ", ".", 1) + " x [7]"}, dump(got)); diff != "" {
				t.Error(diff)
			}
			if renamed := len(former) == 1; renamed != (test.base != test.want) {
				t.Errorf("former names are %v", former)
			}
		})
	}
}
