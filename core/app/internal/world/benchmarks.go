package world

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"
)

// WriteBenchmarks writes a report in the format of Go benchmarks, so that benchstat
// compares reports and `benchgate check` checks them: a line for each change, with the
// least times to apply it and to compare the views. Further lines are for loading, the
// first build and reads. Several reports of one world are several measurements.
func (r *Report) WriteBenchmarks(w io.Writer) error {
	var text strings.Builder
	line := func(name string, n int, took time.Duration, metrics ...any) {
		fmt.Fprintf(&text, "BenchmarkWorld/shape=%s/dataplanes=%d/policies=%d/%s-%d\t%d\t%d ns/op",
			r.Shape, r.Sizes.Dataplanes, r.Sizes.Policies, strings.ReplaceAll(name, " ", "-"), runtime.GOMAXPROCS(0), n, took.Nanoseconds())
		for i := 0; i < len(metrics); i += 2 {
			fmt.Fprintf(&text, "\t%.6g %s", metrics[i], metrics[i+1])
		}
		text.WriteByte('\n')
	}
	fmt.Fprintf(&text, "goos: %s\ngoarch: %s\npkg: github.com/meshmatch/meshmatch/core/app/internal/world\n", runtime.GOOS, runtime.GOARCH)
	if r.Load > 0 {
		line("load", 1, r.Load, r.Loaded, "B/dataplane")
	}
	line("build", 1, r.Build, r.Heap, "B/dataplane")
	line("read", 1, r.Read)
	line("cold read", 1, r.ReadCold)
	for _, row := range r.Changes {
		line("change="+row.Change, row.Samples, row.Least, float64(row.Compare.Nanoseconds()), "compare-ns/op", row.Touched, "dataplanes/op")
	}
	_, err := io.WriteString(w, text.String())
	return err
}
