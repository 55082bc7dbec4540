package gate

import (
	"slices"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
)

// A Benchmark is the identity of a benchmark in the output of a run.
type Benchmark struct {
	Package string // import path, or "" where the output names none
	Name    string // as printed: without "Benchmark", with the suffix -GOMAXPROCS
}

// Results are the measurements of one or more runs of one program. A value
// returned by [Loader.Results] never changes.
type Results struct {
	benchmarks []Benchmark // in the order in which they first ran
	series     map[Benchmark][]series
	units      benchfmt.UnitMetadataMap
	mixed      []string
}

// A series is what one benchmark measured in one unit, in the order of the runs.
type series struct {
	unit   string
	values []float64
}

// Benchmarks returns the benchmarks in the order in which they first ran. The
// caller must not change it.
func (r *Results) Benchmarks() []Benchmark { return r.benchmarks }

// Units returns the tidied units (sec/op, not ns/op) that b was measured in,
// in the order of the output.
func (r *Results) Units(b Benchmark) []string {
	var units []string
	for _, s := range r.series[b] {
		units = append(units, s.unit)
	}
	return units
}

// Sample returns what b measured in a tidied unit, or nil. The thresholds are
// for tests of the sample by benchmath.
func (r *Results) Sample(b Benchmark, unit string, thresholds *benchmath.Thresholds) *benchmath.Sample {
	for _, s := range r.series[b] {
		if s.unit == unit {
			return benchmath.NewSample(slices.Clone(s.values), thresholds)
		}
	}
	return nil
}

// MixedMachines returns which of goos, goarch and cpu differ within the
// results: measurements in them can not be set in relation.
func (r *Results) MixedMachines() []string { return r.mixed }

// name names b in a report: with its package where there are several.
func (r *Results) name(b Benchmark) string {
	if slices.ContainsFunc(r.benchmarks, func(other Benchmark) bool { return other.Package != b.Package }) {
		return b.Package + "." + b.Name
	}
	return b.Name
}

func (r *Results) add(b Benchmark, unit string, value float64) {
	all := r.series[b]
	if all == nil {
		r.benchmarks = append(r.benchmarks, b)
	}
	for i := range all {
		if all[i].unit == unit {
			all[i].values = append(all[i].values, value)
			return
		}
	}
	r.series[b] = append(all, series{unit, []float64{value}})
}
