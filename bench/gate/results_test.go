package gate

import "testing"

func TestBenchmarkName(t *testing.T) {
	for _, test := range []struct {
		name     string
		packages []string // the first one is the package of the benchmark
		want     string
	}{
		{"one package", []string{"m/bench", "m/bench"}, "A-2"},
		{"two packages", []string{"m/bench", "m/index"}, "bench.A-2"},
		{"packages at different depths", []string{"m/core/xds", "m/index"}, "core/xds.A-2"},
		{"a package below the other", []string{"m/core", "m/core/xds"}, "core.A-2"},
		{"a package above the other", []string{"m/core/xds", "m/core"}, "xds.A-2"},
		{"names that only begin alike", []string{"m/core", "m/cores"}, "core.A-2"},
		{"nothing in common", []string{"m/bench", "n/bench"}, "m/bench.A-2"},
		{"a package and none", []string{"m/bench", ""}, "m/bench.A-2"},
	} {
		var among []benchmarkID
		for _, pkg := range test.packages {
			among = append(among, benchmarkID{pkg, "A-2"})
		}
		if got := among[0].name(among); got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
}
