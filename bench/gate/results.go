package gate

import (
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
)

// A benchmarkID is the identity of a benchmark in the output of a run.
type benchmarkID struct {
	Package string // import path, or "" if the output has none
	Name    string // as printed: without "Benchmark", with the suffix -GOMAXPROCS
}

// Results are the measurements of one or more runs of one program. They never
// change.
type Results struct {
	benchmarks []benchmarkID // in the order in which they first ran
	series     map[benchmarkID][]series
	units      benchfmt.UnitMetadataMap
	// mixed lists which of goos, goarch and cpu differ within the results.
	mixed []string
}

// A series contains the measurements of one benchmark in one unit, in the order
// of the runs.
type series struct {
	unit   string
	values []float64
}

// unitsOf returns the tidied units (sec/op, not ns/op) in which b was measured,
// in the order of the output.
func (r *Results) unitsOf(b benchmarkID) []string {
	var units []string
	for _, s := range r.series[b] {
		units = append(units, s.unit)
	}
	return units
}

// sample returns the measurements of b in a tidied unit, or nil. The thresholds
// are for tests of the sample by benchmath.
func (r *Results) sample(b benchmarkID, unit string, thresholds *benchmath.Thresholds) *benchmath.Sample {
	for _, s := range r.series[b] {
		if s.unit == unit {
			return benchmath.NewSample(slices.Clone(s.values), thresholds)
		}
	}
	return nil
}

// name returns the name of b in a report that has the given benchmarks. If these
// are in several packages, the name includes the package without the common
// path.
func (b benchmarkID) name(among []benchmarkID) string {
	shared := b.Package
	for _, other := range among {
		for other.Package != shared && !strings.HasPrefix(other.Package, shared+"/") && shared != "" {
			shared = shared[:max(0, strings.LastIndexByte(shared, '/'))]
		}
	}
	if shared == b.Package && !slices.ContainsFunc(among, func(other benchmarkID) bool { return other.Package != b.Package }) {
		return b.Name
	}
	if shared == b.Package {
		shared = shared[:max(0, strings.LastIndexByte(shared, '/'))]
	}
	return strings.TrimPrefix(strings.TrimPrefix(b.Package, shared), "/") + "." + b.Name
}

func (r *Results) name(b benchmarkID) string { return b.name(r.benchmarks) }

func (r *Results) add(b benchmarkID, unit string, value float64) {
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
